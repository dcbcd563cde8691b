import JOSE
import SocketServer

/// The whole configuration file of `sandbox-idp serve`.
struct SandboxConfiguration: Sendable {
    /// Where to listen, and with which certificate.
    let server: HTTPServerConfiguration
    /// PEM file of the authorities that sign the brokers' certificates; `nil` trusts the system's.
    let caFile: String?
    let provider: ProviderConfiguration

    /// Reads a file's octets (JSON, comments allowed).
    ///
    /// - Throws: every fault at once.
    init(parsing octets: [UInt8]) throws(ConfigurationError) {
        let json: JSONValue
        do { json = try JSONValue(parsing: octets, dialect: .json5) } catch {
            throw ConfigurationError(
                faults: [ConfigurationFault(path: "", reason: error.description)])
        }
        let collector = FaultCollector()
        let reader = ConfigurationReader(collector)
        let read = reader.read(json)
        guard let read, collector.faults.isEmpty else {
            throw ConfigurationError(faults: collector.faults)
        }
        self = read
    }

    init(server: HTTPServerConfiguration, caFile: String?, provider: ProviderConfiguration) {
        self.server = server
        self.caFile = caFile
        self.provider = provider
    }
}
