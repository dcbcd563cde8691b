import TestKit

/// A server's key and self-signed certificate in two files, made by the `openssl` command.
struct TLSFiles {
    let certificate: String
    let key: String

    /// - Parameter name: the certificate's common name, by which a test knows it again.
    init(_ name: String, in directory: TemporaryDirectory) async throws {
        certificate = try directory.write([], to: "tls.crt")
        key = try directory.write([], to: "tls.key")
        try await runChecked([
            "openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=\(name)",
            "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
        ])
    }

    /// The `tls` member of a configuration.
    var member: String { "tls: {certificate_file: \"\(certificate)\", key_file: \"\(key)\"}," }

    /// The subject of the certificate that a server on this port shows.
    static func subject(port: UInt16) async throws -> String {
        let shown = try await runChecked(["openssl", "s_client", "-connect", "127.0.0.1:\(port)"])
        return String(decoding: shown, as: UTF8.self).split(separator: "\n").map(String.init)
            .first { $0.hasPrefix("subject=") } ?? ""
    }

    /// The status of a mint over TLS, sent by curl.
    static func mintStatus(_ deployment: Deployment, port: UInt16) async throws -> String {
        let body =
            #"{"client_id":"app","audience":"\#(Sample.issuer)","dpop_jkt":"\#(Sample.jkt)"}"#
        let output = try await runChecked([
            "curl", "-sk", "-o", "/dev/null", "-w", "%{http_code}",
            "-H", "Authorization: Bearer \(deployment.token)",
            "-H", "Content-Type: application/json", "-d", body,
            "https://127.0.0.1:\(port)/v1/assertions",
        ])
        return String(decoding: output, as: UTF8.self)
    }
}
