import Testing

@testable import SocketServer

@Suite struct TrustedProxyTests {
    private static func proxies(_ field: TrustedProxies.Field, _ ranges: String...) throws
        -> TrustedProxies
    {
        TrustedProxies(
            ranges: try ranges.map { try #require(AddressRange($0)) }, field: field)
    }

    /// A head from the proxy at 10.0.0.1.
    static func peer(_ field: TrustedProxies.Field) throws -> Peer {
        Peer(
            address: RemoteAddress(octets: [10, 0, 0, 1]), isTLS: false,
            proxies: try proxies(field, "10.0.0.0/8", "2001:db8:a::/48"))
    }

    @Test(arguments: ForwardedInput.all)
    func `the client is the first address from the right that is no proxy, or nobody`(
        _ input: ForwardedInput
    ) throws {
        var parser = HeadParser(limits: HTTPLimits())
        let text = "GET / HTTP/1.1\r\nHost: a\r\n\(input.lines)\r\n"
        let answer = Array(text.utf8).withUnsafeBufferPointer {
            parser.parse(
                $0, from: (try? Self.peer(input.field)) ?? Peer(address: .unix, isTLS: false))
        }
        let outcome: ForwardedInput.Outcome? =
            switch answer {
            case .complete(let head, _) where head.isSecure: .secure("\(head.remote)")
            case .complete(let head, _): .silent("\(head.remote)")
            case .bad(.malformedForwarding): .malformed
            case .bad(.insecureForwarding): .insecure
            default: nil
            }
        #expect(outcome == input.outcome)
    }

    /// The proxy adds its word behind whatever came, on the same line or on one of its own.
    @Test(arguments: 0..<500)
    func `nothing a client writes before it makes the proxy's word name somebody else`(seed: Int)
        throws
    {
        var random = SeededRandom(seed: UInt64(seed))
        let pieces = [
            "\"", "\\", ",", ";", "=", " ", "\t", "[", "]", ":", "for=", "proto=", "https", "http",
            "10.0.0.2", "198.51.100.1", "\"[2001:db8:a::2]\"", "2001:db8:a::2", "unknown", "x",
            "\u{600}", "\u{e9}", "(", "'",
        ]
        let invention = (0..<Int.random(in: 1...12, using: &random))
            .compactMap { _ in pieces.randomElement(using: &random) }.joined()
        let between = [", ", ",", "\r\nX: y\r\nFIELD: "].randomElement(using: &random) ?? ","
        for (field, name, word) in [
            (TrustedProxies.Field.forwarded, "Forwarded", "for=203.0.113.9;proto=https"),
            (.forwarded, "Forwarded", "for=\"203.0.113.9\";proto=\"https\""),
            (.forwarded, "Forwarded", "proto=https;by=\"[2001:db8:a::1]\";for=\"203.0.113.9:80\""),
            (.xForwardedFor, "X-Forwarded-For", "203.0.113.9"),
        ] {
            let line = "FIELD: \(invention)\(between)\(word)\r\n".replacing("FIELD", with: name)
            var parser = HeadParser(limits: HTTPLimits())
            let peer = try Self.peer(field)
            let answer = Array("GET / HTTP/1.1\r\nHost: a\r\n\(line)\r\n".utf8)
                .withUnsafeBufferPointer { parser.parse($0, from: peer) }
            switch answer {
            case .complete(let head, _): #expect("\(head.remote)" == "203.0.113.9", "\(line)")
            case .bad(let rejection): #expect(rejection == .malformedForwarding, "\(line)")
            case .needMore: Issue.record("\(line)")
            }
        }
    }

    @Test func `the peer stays known, and its own certificate never passes for its client's`()
        throws
    {
        var peer = try Self.peer(.forwarded)
        peer.clientCertificate = ClientCertificate(sha256: [1], names: [.dns("proxy")])
        var parser = HeadParser(limits: HTTPLimits())
        let text = "GET / HTTP/1.1\r\nHost: a\r\nForwarded: for=203.0.113.9;proto=https\r\n\r\n"
        let answer = Array(text.utf8).withUnsafeBufferPointer { parser.parse($0, from: peer) }
        guard case .complete(let head, _) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(head.peer == peer.address)
        #expect(head.clientCertificate == nil)
    }

    @Test(arguments: ForwardedInput.all.filter { $0.outcome == .malformed })
    func `what leaves the client in doubt is 400, and nothing behind it runs`(
        _ input: ForwardedInput
    ) async throws {
        let server = try TestServer(lanes: 1) {
            $0.trustedProxies = try? Self.proxies(input.field, "127.0.0.0/8", "10.0.0.0/8")
        }
        let answers = try await server.answers(
            to: "GET /who HTTP/1.1\r\nHost: a\r\n\(input.lines)\r\n\(RawInput.second)")
        #expect(answers.map(\.status) == [400])
        #expect(answers.last?.wasLast == true)
        #expect(server.handler.handled.isEmpty)
        await server.stop()
    }

    static let fields =
        "Forwarded: for=203.0.113.9;proto=https\r\nX-Forwarded-For: 203.0.113.8\r\n"

    @Test(
        arguments: [
            (nil, "127.0.0.1", "127.0.0.1 by 127.0.0.1 plain"),
            (.forwarded, "127.0.0.1", "203.0.113.9 by 127.0.0.1 secure"),
            (.xForwardedFor, "127.0.0.1", "203.0.113.8 by 127.0.0.1 plain"),
            // On loopback a peer that is no proxy is served, and its fields are ignored.
            (.forwarded, "127.0.0.2", "127.0.0.2 by 127.0.0.2 plain"),
            (.xForwardedFor, "127.0.0.2", "127.0.0.2 by 127.0.0.2 plain"),
        ] as [(TrustedProxies.Field?, String, String)])
    func `only the configured field of a trusted proxy counts`(
        field: TrustedProxies.Field?, source: String, who: String
    ) async throws {
        let server = try TestServer {
            $0.trustedProxies = field.flatMap { try? Self.proxies($0, "127.0.0.1") }
        }
        let address = server.server.listening
        let answers = try await offPool {
            let client = try RawClient(address, from: source)
            client.send("GET /who HTTP/1.1\r\nHost: a\r\n\(Self.fields)\r\n")
            return client.readAnswers(count: 1)
        }
        #expect(answers.map(\.body) == [who])
        await server.stop()
    }

    @Test(arguments: [(false, "unix by unix plain"), (true, "203.0.113.9 by unix secure")])
    func `a peer on a Unix socket is a proxy only when the configuration says so`(
        trusted: Bool, who: String
    ) async throws {
        let directory = try TemporaryDirectory()
        let path = try #require(UnixSocketPath(directory.file("a.sock")))
        let server = try TestServer(on: .unix(path, mode: .ownerAndGroup)) {
            $0.trustedProxies = TrustedProxies(
                ranges: [], includesUnixPeers: trusted, field: .forwarded)
        }
        let answers = try await server.answers(
            to: "GET /who HTTP/1.1\r\nHost: a\r\n\(Self.fields)\r\n", count: 1)
        #expect(answers.map(\.body) == [who])
        await server.stop()
    }

    @Test(arguments: ["0.0.0.0", "::"])
    func `where others can reach plain HTTP, whoever is no proxy is closed at once`(
        _ address: String
    ) async throws {
        let events = Locked<[ServerEvent]>([])
        let server = try TestServer(on: .tcp(address: address, port: 0)) {
            $0.trustedProxies = try? Self.proxies(.forwarded, "127.0.0.1")
            $0.observe = { event in events.withLock { $0.append(event) } }
        }
        let port = server.port
        try await offPool {
            let stranger = try RawClient(.tcp(.loopback, port: port), from: "127.0.0.2")
            #expect(stranger.readAnswers().isEmpty)
            let proxy = try RawClient(.tcp(.loopback, port: port))
            proxy.send("GET /who HTTP/1.1\r\nHost: a\r\n\(Self.fields)\r\n")
            #expect(proxy.readAnswers(count: 1).map(\.body) == ["203.0.113.9 by 127.0.0.1 secure"])
        }
        #expect(
            events.withLock { $0 } == [.peerNotTrusted(RemoteAddress(octets: [127, 0, 0, 2]))])
        await server.stop()
    }

    @Test func `over TLS everybody is let in, and only a proxy's fields count`() async throws {
        let identity = try await TestIdentity()
        let server = try TestServer(
            on: .tcp(address: "0.0.0.0", port: 0), tls: identity.configuration
        ) { $0.trustedProxies = try? Self.proxies(.forwarded, "127.0.0.1") }
        for (source, who) in [
            ("127.0.0.1", "203.0.113.9 by 127.0.0.1 secure"),
            ("127.0.0.2", "127.0.0.2 by 127.0.0.2 secure"),
        ] {
            let result = try await Command.run(
                "curl",
                [
                    "-sS", "--cacert", identity.certificate, "--interface", source, "-H",
                    "Forwarded: for=203.0.113.9;proto=https",
                    "https://127.0.0.1:\(server.port)/who",
                ])
            #expect(result.output == who, "\(result.errors)")
        }
        await server.stop()
    }

    @Test func `a proxy's connections do not count against the limit of one address`()
        async throws
    {
        let server = try TestServer {
            $0.maximumConnectionsPerAddress = 2
            $0.trustedProxies = try? Self.proxies(.forwarded, "127.0.0.1")
        }
        let address = server.server.listening
        try await offPool {
            let proxies = try (0..<10).map { _ in try RawClient(address) }
            for client in proxies { client.send(RawInput.second) }
            for client in proxies {
                #expect(client.readAnswers(count: 1).map(\.status) == [200])
            }
            let others = try (0..<3).map { _ in try RawClient(address, from: "127.0.0.2") }
            for client in others { client.send(RawInput.second) }
            let answered = others.count { $0.readAnswers(count: 1).count == 1 }
            #expect(answered == 2)
        }
        await server.untilEmpty()
        // What was not counted is not counted off either.
        let answers = try await server.answers(to: RawInput.second, count: 1)
        #expect(answers.map(\.status) == [200])
        await server.stop()
    }

    @Test func `a proxy's connections still count in the total`() async throws {
        let ledger = ConnectionLedger(lanes: 1, maximum: 2, maximumPerNetwork: 1)
        #expect((0..<2).map { _ in ledger.admit(nil) } == [.lane(0), .lane(0)])
        #expect(ledger.isFull)
        ledger.release(nil, lane: 0)
        #expect(!ledger.isFull)
        #expect(ledger.admit(.loopback) == .lane(0))
    }
}
