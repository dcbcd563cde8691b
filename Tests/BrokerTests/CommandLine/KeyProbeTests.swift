import AssertionMint
import Glibc
import HTTPClient
import JOSE
import TestKit
import Testing

@testable import Broker

/// `broker key rotate --probe` against a strict provider over TLS, which fetches the client's keys from a running broker.
@Suite struct KeyProbeTests {
    @Test(.timeLimit(.minutes(5)))
    func `a new key signs only once the provider accepts it`() async throws {
        let world = try await World()
        #expect(try await world.rotate().status == 75, "it is published")
        try await world.letPass(311)

        // A provider that looks for the keys where the new one never comes.
        let stale = try await world.provider(keysOf: "other")
        #expect(try await world.probe("app.pem") == .accepted)
        let refused = try await world.rotate()
        #expect(refused.status == 75)
        #expect(refused.errorText.contains("invalid_client"), "\(refused.errorText)")
        #expect(try await world.states() == ["active", "pending"])
        stale.signal(SIGTERM)
        #expect(await stale.status() == 0)

        // Nobody there, and then one that finds it.
        let rotation = try RunningProcess(
            world.command + ["--probe-for", "4m"], environment: BrokerProgram.environment)
        let provider = try await world.provider(keysOf: "app")
        _ = try await rotation.line { $0.contains("is accepted") }
        _ = try await rotation.line { $0.contains("signs") }
        #expect(try await world.states() == ["active", "retiring"])
        #expect(try await world.probe("new.pem") == .accepted)
        rotation.signal(SIGKILL)
        _ = await rotation.status()
        provider.signal(SIGTERM)
        _ = await provider.status()
        #expect(await world.broker.stop() == 0)
    }

    @Test func `a provider that nobody vouches for is no provider`() async throws {
        let world = try await World()
        let provider = try await world.provider(keysOf: "app")
        let answer = try await world.probe("app.pem", trusting: nil)
        guard case .unclear(let text) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(text.contains("certificate"))
        provider.signal(SIGTERM)
        _ = await provider.status()
        #expect(await world.broker.stop() == 0)
    }

    @Test(arguments: [
        ["--probe-for", "10m"], ["--ca-file", "/dev/null"], ["--probe", "--probe-for", "soon"],
        ["--probe", "--probe-for", "0s"],
    ])
    func `options that mean nothing are refused`(options: [String]) async throws {
        let result = try await runProcess(
            [BrokerProgram.path, "key", "rotate", "app", "--out", "/nowhere/x"] + options)
        #expect(result.status == 64, "\(result.errorText)")
    }
}

/// A broker over TLS, and the port of the provider that its clients are at.
private struct World {
    let deployment: Deployment
    let broker: ServingBroker
    private let tls: TLSFiles
    private let port: UInt16

    private var issuer: String { "https://127.0.0.1:\(port)" }

    init() async throws {
        deployment = try await Deployment()
        tls = try await TLSFiles("localhost", in: deployment.directory)
        port = try Self.freePort()
        try await deployment.query(
            """
            UPDATE broker.client
                SET settings = jsonb_set(settings, '{issuers}', '["https://127.0.0.1:\(port)"]');
            SELECT broker.bump_revision();
            """)
        broker = try await ServingBroker(try deployment.configuration(more: tls.member))
    }

    /// A rotation that asks the provider and waits.
    var command: [String] {
        [
            BrokerProgram.path, "key", "rotate", "app", "--out",
            deployment.directory.file("new.pem"),
            "--database-url", deployment.url, "--probe", "--ca-file", tls.certificate,
        ]
    }

    func rotate() async throws -> ProcessResult { try await runProcess(command + ["--no-wait"]) }

    /// Starts the provider, which finds the keys of `app` at those of `client`.
    func provider(keysOf client: String) async throws -> RunningProcess {
        let text = """
            {"listen": {"address": "127.0.0.1", "port": \(port)}, "issuer": "\(issuer)",
             "tls": {"certificate_file": "\(tls.certificate)", "key_file": "\(tls.key)"},
             "ca_file": "\(tls.certificate)",
             "clients": [{"client_id": "app", "redirect_uris": ["https://app.example/cb"],
               "first_party_challenge_enabled": true,
               "jwks_uri": "https://127.0.0.1:\(broker.port)/v1/clients/\(client)/jwks.json"}]}
            """
        let process = try RunningProcess(
            [
                BrokerProgram.beside("sandbox-idp"), "serve", "--config",
                try deployment.directory.write(Array(text.utf8), to: "idp.json"),
            ], environment: BrokerProgram.environment)
        _ = try await process.line { $0.contains("sandbox.ready") }
        return process
    }

    /// What the provider thinks of the key in a file.
    func probe(_ file: String, trusting authority: Bool? = true) async throws -> ProbeAnswer {
        let key = try PrivateKey.load(uri: "file:\(deployment.directory.file(file))")
        let client = HTTPClient.forProviders(
            caFile: authority == nil ? nil : tls.certificate)
        return await ProviderProbe(
            issuer: try #require(Issuer(issuer)),
            signer: AssertionSigner(
                clientId: try Sample.clientId(), key: key, kid: key.publicJWK.thumbprint,
                profile: try Sample.settings().profile),
            fetch: { await client.fetch($0) }
        ).ask()
    }

    func letPass(_ seconds: Int) async throws {
        try await deployment.letPassForKeys(seconds)
    }

    func states() async throws -> [String] {
        try await deployment.query(
            "SELECT state FROM broker.signing_key WHERE client_id = 'app' ORDER BY state"
        ).split(separator: "\n").map(String.init)
    }

    /// A port that was free a moment ago: an issuer has to know its own before it listens.
    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        try #require(isBound)
        return UInt16(bigEndian: address.sin_port)
    }
}
