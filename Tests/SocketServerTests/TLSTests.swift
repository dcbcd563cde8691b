import Testing

@testable import SocketServer

@Suite struct TLSTests {
    @Test(arguments: [
        (["--tlsv1.2", "--tls-max", "1.2"], "TLSv1.2"), (["--tlsv1.3"], "TLSv1.3"),
    ])
    func `curl gets its answer over TLS 1.2 and 1.3`(options: [String], version: String)
        async throws
    {
        let identity = try await TestIdentity()
        let server = try TestServer(tls: identity.configuration)
        let result = try await Command.run(
            "curl",
            options + [
                "-sv", "--cacert", identity.certificate, "--data", "12345", "-w",
                " %{http_version}",
                "https://127.0.0.1:\(server.port)/echo",
                "https://127.0.0.1:\(server.port)/describe?q",
            ])
        #expect(result.status == 0)
        #expect(result.output.hasPrefix("12345 1.1"))
        #expect(result.output.contains("\n127.0.0.1\ntrue\n"))
        #expect(result.errors.contains("SSL connection using \(version)"))
        #expect(result.errors.contains("ALPN: server accepted http/1.1"))
        #expect(result.errors.contains("Re-using existing connection"))
        await server.stop()
    }

    @Test(arguments: [
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
        "ECDHE-ECDSA-CHACHA20-POLY1305",
    ])
    func `TLS 1.2 takes the suites of RFC 9325`(_ suite: String) async throws {
        let identity = try await TestIdentity()
        let server = try TestServer(tls: identity.configuration)
        let result = try await handshake(server, ["-tls1_2", "-cipher", suite])
        #expect(result.output.contains("Cipher is \(suite)"))
        await server.stop()
    }

    @Test(arguments: [
        ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"], ["-tls1", "-cipher", "ALL:@SECLEVEL=0"],
        ["-tls1_2", "-cipher", "AES128-GCM-SHA256"],
        ["-tls1_2", "-cipher", "ECDHE-RSA-AES128-SHA256"],
        ["-tls1_2", "-cipher", "ECDHE-RSA-AES256-SHA"],
        ["-tls1_2", "-cipher", "DHE-RSA-AES128-GCM-SHA256"],
        ["-tls1_2", "-cipher", "ECDHE-RSA-AES128-CCM:ECDHE-ECDSA-AES128-CCM8"],
        ["-alpn", "h2"], ["-alpn", "spdy/3,h2"],
    ])
    func `older versions, other suites and other protocols are refused with an alert`(
        _ options: [String]
    ) async throws {
        let identity = try await TestIdentity(algorithm: ["rsa:2048"])
        let server = try TestServer(tls: identity.configuration)
        let result = try await handshake(server, options)
        #expect(result.status != 0)
        #expect(result.errors.contains("alert"))
        #expect(!result.output.contains("Cipher is ECDHE"))
        // The door still stands.
        let good = try await handshake(server, ["-alpn", "h2,http/1.1"])
        #expect(good.output.contains("ALPN protocol: http/1.1"))
        await server.stop()
    }

    @Test func `Python's ssl gets large answers, exact bodies and a clean goodbye`() async throws {
        let identity = try await TestIdentity()
        let server = try TestServer(tls: identity.configuration)
        let result = try await Command.run(
            "python3", ["-c", Self.python, "\(server.port)", identity.certificate])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output == "good\n")
        await server.stop()
    }

    @Test(arguments: [
        [], [0x16, 0x03, 0x01, 0x02, 0x00, 0x01], Array("GET / HTTP/1.1\r\n\r\n".utf8),
    ])
    func `a handshake that never ends, or is none, ends the connection`(_ bytes: [UInt8])
        async throws
    {
        let identity = try await TestIdentity()
        let server = try TestServer(tls: identity.configuration) {
            $0.deadlines.handshake = .milliseconds(200)
        }
        let port = server.port
        let answer = try await offPool {
            let client = try RawClient(port: port)
            client.send(bytes)
            return try client.readToEnd()
        }
        #expect(!answer.starts(with: "HTTP".utf8))
        #expect(server.handler.handled.isEmpty)
        await server.stop()
    }

    @Test(arguments: [0o640, 0o604, 0o644, 0o660])
    func `a key that others may read is refused by name`(mode: Int) async throws {
        let identity = try await TestIdentity()
        try identity.directory.setMode(mode, of: "key.pem")
        #expect(
            throws: ServerError.unusableTLSFile(
                path: identity.key,
                reason: "a private key must not be accessible by group or others")
        ) { try TestServer(tls: identity.configuration) }
    }

    @Test
    func `files that are missing, mixed up, of another key, or encrypted are refused by name`()
        async throws
    {
        let (one, other) = (try await TestIdentity(), try await TestIdentity())
        let encrypted = try await Command.run(
            "openssl",
            [
                "pkcs8", "-topk8", "-in", one.key, "-passout", "pass:x", "-out",
                one.directory.file("enc.pem"),
            ])
        #expect(encrypted.status == 0)
        try one.directory.setMode(0o600, of: "enc.pem")
        let cases = [
            (one.directory.file("none.pem"), one.key, one.directory.file("none.pem")),
            (one.certificate, one.directory.file("none.pem"), one.directory.file("none.pem")),
            (one.key, one.key, one.key), (one.certificate, other.key, other.key),
            (one.certificate, one.directory.file("enc.pem"), one.directory.file("enc.pem")),
        ]
        for (certificate, key, culprit) in cases {
            let error = #expect(throws: ServerError.self) {
                try TestServer(
                    tls: TLSConfiguration(certificateChainFile: certificate, privateKeyFile: key))
            }
            #expect(error?.description.hasPrefix("\(culprit): ") == true)
        }
    }

    @Test func `a new certificate is used after a reload, and a bad one changes nothing`()
        async throws
    {
        let (one, other) = (
            try await TestIdentity(name: "one"), try await TestIdentity(name: "other")
        )
        let server = try TestServer(tls: one.configuration)
        #expect(try await handshake(server, []).output.contains("subject=CN = one"))
        #expect(throws: ServerError.self) {
            try server.server.reload(
                TLSConfiguration(certificateChainFile: other.certificate, privateKeyFile: one.key))
        }
        #expect(try await handshake(server, []).output.contains("subject=CN = one"))
        try server.server.reload(other.configuration)
        #expect(try await handshake(server, []).output.contains("subject=CN = other"))
        await server.stop()
    }

    @Test func `a server of plain HTTP cannot be turned to TLS`() async throws {
        let identity = try await TestIdentity()
        let server = try TestServer()
        #expect(throws: ServerError.self) { try server.server.reload(identity.configuration) }
        await server.stop()
    }

    private func handshake(_ server: TestServer, _ options: [String]) async throws -> Command.Result
    {
        try await Command.run(
            "openssl", ["s_client", "-connect", "127.0.0.1:\(server.port)"] + options)
    }

    private static let python = """
        import socket, ssl, sys
        context = ssl.create_default_context(cafile=sys.argv[2])
        context.set_alpn_protocols(["http/1.1"])
        def connect():
            plain = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=20)
            return context.wrap_socket(plain, server_hostname="127.0.0.1", suppress_ragged_eofs=False)
        def read(tls):
            data = bytearray()
            while True:
                more = tls.recv(65536)
                if not more: return bytes(data)
                data += more
        tls = connect()
        for octet in b"POST /echo HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 5\\r\\nConnection: close\\r\\n\\r\\n12345":
            tls.send(bytes([octet]))
        assert read(tls).endswith(b"\\r\\n\\r\\n12345")
        body = bytes(range(256)) * 4000
        tls = connect()
        tls.sendall(b"POST /large HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body
            + b"GET /hello HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n")
        answer = read(tls)
        assert body in answer and answer.endswith(b"hello"), len(answer)
        tls = connect()
        tls.sendall(b"GET /big?20000000 HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n")
        assert read(tls).partition(b"\\r\\n\\r\\n")[2] == b"x" * 20000000
        print("good")
        """
}
