import Dispatch
import Glibc
import JOSE
import SocketServer

/// `sandbox-idp serve`.
struct ServeCommand {
    let configFile: String

    /// How long requests in flight may take after SIGTERM.
    static let grace = Duration.seconds(10)

    /// Serves until a signal comes.
    func run() async throws(StartError) {
        let configuration = try read()
        let environment = Environment.real(caFile: configuration.caFile)
        let server: HTTPServer
        do {
            let provider = try SandboxProvider(configuration.provider, environment: environment)
            server = try HTTPServer(
                configuration.server, lanes: [Lane(index: 0)], handler: SandboxHandler(provider))
        } catch let error as ServerError {
            throw StartError(reasons: [error.description])
        } catch {
            throw StartError(reasons: ["cannot make a signing key"])
        }
        let signals = StopSignals()
        do { try server.start() } catch { throw StartError(reasons: [error.description]) }
        for warning in configuration.provider.warnings {
            Output.line(Self.line(of: warning), to: STDERR_FILENO)
        }
        Output.line(ready(configuration, port: server.port), to: STDOUT_FILENO)
        await signals.first()
        await server.drain(grace: Self.grace)
    }

    private func read() throws(StartError) -> SandboxConfiguration {
        let octets: [UInt8]
        do { octets = try FileReader.read(configFile) } catch {
            throw StartError(reasons: ["the configuration file cannot be read: \(error)"])
        }
        do { return try SandboxConfiguration(parsing: octets) } catch {
            throw StartError(reasons: error.faults.map(\.description))
        }
    }

    private static func line(of warning: ConfigurationWarning) -> String {
        var json = JSONWriter()
        json.object {
            $0.member("event", "sandbox.warning")
            $0.member("client_id", warning.clientId)
            $0.member("reason", warning.reason)
        }
        return json.text
    }

    private func ready(_ configuration: SandboxConfiguration, port: UInt16) -> String {
        var json = JSONWriter()
        json.object {
            $0.member("event", "sandbox.ready")
            $0.member("issuer", configuration.provider.uris.issuer)
            $0.member("api", configuration.provider.uris.api + "/accounts")
            $0.member("port", port)
        }
        return json.text
    }
}

/// Why the provider cannot start; every reason at once.
struct StartError: Error, Equatable, Sendable {
    let reasons: [String]
}

/// SIGTERM and SIGINT as something to wait for.
/// Sendable: nothing changes it after `init`.
final class StopSignals: @unchecked Sendable {
    private let stream: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        self.stream = stream
        sources = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)  // the source sees it all the same
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield() }
            source.activate()
            return source
        }
    }

    /// Returns when the first signal has come.
    func first() async {
        for await _ in stream { return }
    }
}
