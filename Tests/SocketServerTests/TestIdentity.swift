import SocketServer

/// A key and a self-signed certificate for 127.0.0.1, made by the `openssl` command.
struct TestIdentity {
    let directory: TemporaryDirectory
    var certificate: String { directory.file("cert.pem") }
    var key: String { directory.file("key.pem") }
    var configuration: TLSConfiguration {
        TLSConfiguration(certificateChainFile: certificate, privateKeyFile: key)
    }

    /// - Parameter algorithm: as `openssl req -newkey` takes it.
    init(
        algorithm: [String] = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
        name: String = "127.0.0.1"
    )
        async throws
    {
        directory = try TemporaryDirectory()
        let made = try await Command.run(
            "openssl",
            ["req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=\(name)", "-newkey"] + algorithm
                + [
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", directory.file("key.pem"),
                    "-out", directory.file("cert.pem"),
                ])
        guard made.status == 0 else { throw ClientError(text: made.errors) }
        try directory.setMode(0o600, of: "key.pem")
    }
}
