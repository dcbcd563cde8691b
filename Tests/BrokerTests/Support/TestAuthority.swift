import TestKit

/// A certificate authority made with the `openssl` command, and what it signs.
struct TestAuthority: Sendable {
    let directory: TemporaryDirectory

    /// The authority's own certificate.
    var certificate: String { directory.file("ca.pem") }

    init() async throws {
        directory = try TemporaryDirectory()
        try await runChecked(
            ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=Test authority"]
                + Self.newKey + [
                    "-addext", "basicConstraints=critical,CA:TRUE", "-addext",
                    "keyUsage=critical,keyCertSign,cRLSign", "-keyout", directory.file("ca.key"),
                    "-out", directory.file("ca.pem"),
                ])
    }

    /// Signs a certificate and gives the paths of it and its key.
    ///
    /// - Parameters:
    ///   - alternativeName: as in `subjectAltName`, such as `DNS:backend.example`.
    ///   - purpose: `clientAuth` or `serverAuth`.
    func sign(_ name: String, _ alternativeName: String, for purpose: String) async throws -> (
        certificate: String, key: String
    ) {
        let (certificate, key) = (directory.file(name + ".pem"), directory.file(name + ".key"))
        let (request, extensions) = (directory.file(name + ".csr"), name + ".ext")
        try await runChecked(
            ["openssl", "req", "-nodes", "-subj", "/CN=\(name)"] + Self.newKey
                + ["-keyout", key, "-out", request])
        let extensionFile = try directory.write(
            Array(
                """
                subjectAltName=\(alternativeName)
                basicConstraints=critical,CA:FALSE
                keyUsage=critical,digitalSignature
                extendedKeyUsage=\(purpose)
                subjectKeyIdentifier=hash
                authorityKeyIdentifier=keyid
                """.utf8), to: extensions)
        try await runChecked([
            "openssl", "x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey",
            directory.file("ca.key"), "-CAcreateserial", "-days", "2", "-extfile", extensionFile,
            "-out", certificate,
        ])
        return (certificate, key)
    }

    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
}
