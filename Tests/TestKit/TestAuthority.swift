/// A certificate authority of one test run, made by the `openssl` command.
public final class TestAuthority: Sendable {
    /// A server's certificate with its key.
    public struct Certificate: Sendable {
        /// PEM file of the certificate.
        public let certificateFile: String
        /// PEM file of the key.
        public let keyFile: String
        /// Holds both files.
        let directory: TemporaryDirectory
    }

    private let directory: TemporaryDirectory

    /// PEM file of the authority's own certificate.
    public var caFile: String { directory.file("ca.pem") }

    /// Makes the authority's key and certificate.
    public init() async throws {
        directory = try TemporaryDirectory()
        try await runChecked(
            Self.command("ca", in: directory) + [
                "-subj", "/CN=test authority", "-addext", "basicConstraints=critical,CA:TRUE",
                "-addext", "keyUsage=critical,keyCertSign",
            ])
    }

    /// Makes a certificate for that name, such as `IP:127.0.0.1` or `DNS:api.example`.
    public func certificate(_ name: String = "IP:127.0.0.1", file: String) async throws
        -> Certificate
    {
        try await runChecked(
            Self.command(file, in: directory) + [
                "-CA", caFile, "-CAkey", directory.file("ca.key"), "-subj", "/CN=test server",
                "-addext", "subjectAltName=\(name)", "-addext",
                "basicConstraints=critical,CA:FALSE",
            ])
        return Certificate(
            certificateFile: directory.file("\(file).pem"), keyFile: directory.file("\(file).key"),
            directory: directory)
    }

    private static func command(_ file: String, in directory: TemporaryDirectory) -> [String] {
        [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-days", "1", "-keyout", directory.file("\(file).key"), "-out",
            directory.file("\(file).pem"),
        ]
    }
}
