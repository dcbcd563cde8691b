import TestKit
import Testing

@testable import ClientShim

/// What both transports promise, over TLS against a real server.
@Suite struct TransportTests {
    private func peer(
        _ answer: @escaping @Sendable (TLSPeer.Seen) async -> TLSPeer.Answer? = { _ in
            TLSPeer.Answer()
        }
    ) async throws -> TLSPeer {
        try TLSPeer(try await Wire.certificate.value, answer: answer)
    }

    private func get(_ wire: Wire, _ url: String) async throws -> HTTPOutcome {
        try await wire.transport().send(HTTPRequest(method: "GET", url: url))
    }

    // MARK: - Requests and answers

    @Test(arguments: Wire.allCases, ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
    func `a request arrives as it was given, and the answer as it was sent`(
        _ wire: Wire, _ method: String
    ) async throws {
        let peer = try await peer { _ in
            TLSPeer.Answer(status: 203, headers: [("X-B", "c")], body: Array("body".utf8))
        }
        let outcome = try await wire.transport().send(
            HTTPRequest(
                method: method, url: peer.url + "/a/b/?x=1#f",
                headers: [HTTPHeader("DPoP", "p"), HTTPHeader("Accept", "application/json")]))
        guard case .answer(let answer) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(answer.status == 203)
        #expect(answer.single("x-b") == "c")
        #expect(answer.body == (method == "HEAD" ? [] : Array("body".utf8)))
        let seen = try #require(peer.requests.all.first)
        #expect(seen.method == method && seen.path == "/a/b/" && seen.query == "x=1")
        #expect(seen.all("dpop") == ["p"])
        #expect(seen.all("accept") == ["application/json"])
        #expect(seen.body.isEmpty)
        for name in ["authorization", "cookie", "proxy-authorization", "expect"] {
            #expect(seen.all(name) == [])
        }
        await peer.stop()
    }

    @Test(arguments: Wire.allCases, [0, 1, 5 << 20])
    func `a body goes out with its length and comes back whole`(
        _ wire: Wire, _ count: Int
    ) async throws {
        let peer = try await peer { TLSPeer.Answer(body: $0.body) }
        let body = (0..<count).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8)) }
        let outcome = try await wire.transport().send(
            HTTPRequest(
                method: "PUT", url: peer.url,
                headers: [
                    HTTPHeader("Content-Length", "7"), HTTPHeader("Content-Type", "a/b"),
                    HTTPHeader("Transfer-Encoding", "chunked"),
                ],
                body: .bytes(body), maximumAnswerBytes: 8 << 20))
        guard case .answer(let answer) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(answer.body == body)
        let seen = try #require(peer.requests.all.first)
        #expect(seen.body == body)
        #expect(seen.all("content-length") == ["\(count)"])
        #expect(seen.all("transfer-encoding") == [])
        await peer.stop()
    }

    @Test(arguments: Wire.allCases)
    func `R-100-26 an answer that is too long is dropped and said to be so`(
        _ wire: Wire
    ) async throws {
        let peer = try await peer { _ in
            TLSPeer.Answer(body: [UInt8](repeating: 1, count: 3 << 20))
        }
        guard case .answer(let answer) = try await get(wire, peer.url) else {
            Issue.record("no answer")
            return
        }
        #expect(answer.isOversized && answer.body.isEmpty && answer.status == 200)
        await peer.stop()
    }

    @Test(arguments: Wire.allCases)
    func `a field that came twice is never taken for one value`(_ wire: Wire) async throws {
        let peer = try await peer { _ in
            TLSPeer.Answer(
                status: 401,
                headers: [
                    ("WWW-Authenticate", #"Bearer realm="x, y""#), ("DPoP-Nonce", "a"),
                    ("WWW-Authenticate", #"DPoP error="use_dpop_nonce""#), ("DPoP-Nonce", "b"),
                ])
        }
        guard case .answer(let answer) = try await get(wire, peer.url) else {
            Issue.record("no answer")
            return
        }
        let challenges = answer.values("WWW-Authenticate")
        #expect(AuthenticateChallenge.dpopError(in: challenges) == "use_dpop_nonce")
        #expect(answer.values("dpop-nonce").joined(separator: ", ") == "a, b")
        #expect(NonceTable.nonce(in: answer) == nil)
        await peer.stop()
    }

    @Test(arguments: Wire.allCases)
    func `nothing of one request is there for the next: no cookie, no cache, no credentials`(
        _ wire: Wire
    ) async throws {
        let peer = try await peer { seen in
            TLSPeer.Answer(
                status: seen.path == "/basic" ? 401 : 200,
                headers: [
                    ("Set-Cookie", "a=b; Path=/"), ("Cache-Control", "max-age=600"),
                    ("ETag", "\"1\""), ("WWW-Authenticate", #"Basic realm="x""#),
                ])
        }
        let transport = try await wire.transport()
        for path in ["/", "/", "/basic", "/basic"] {
            guard
                case .answer = await transport.send(
                    HTTPRequest(method: "GET", url: peer.url + path))
            else {
                Issue.record("no answer")
                return
            }
        }
        #expect(peer.requests.all.map(\.path) == ["/", "/", "/basic", "/basic"])
        for seen in peer.requests.all {
            for name in ["cookie", "if-none-match", "authorization", "proxy-authorization"] {
                #expect(seen.all(name) == [])
            }
        }
        await peer.stop()
    }

    @Test(
        arguments: Wire.allCases,
        [
            "Basic", "Basic realm", #"Basic realm="x""#,
            #"Digest realm="x", nonce="y", qop="auth""#,
            "Negotiate", "NTLM", "", ",", #"DPoP algs="ES256", Basic realm="x""#,
            #"basic realm="\""#,
        ])
    func `a 401 is an answer whatever it asks for`(_ wire: Wire, _ challenge: String) async throws {
        let peer = try await peer { _ in
            TLSPeer.Answer(
                status: 401, headers: [("WWW-Authenticate", challenge)], body: Array("no".utf8))
        }
        guard case .answer(let answer) = try await get(wire, peer.url) else {
            Issue.record("no answer")
            return
        }
        #expect(answer.status == 401)
        #expect(answer.body == Array("no".utf8))
        #expect(peer.requests.all.count == 1)
        await peer.stop()
    }

    @Test(arguments: Wire.allCases)
    func `many at once each get their own answer`(_ wire: Wire) async throws {
        let peer = try await peer { TLSPeer.Answer(body: Array($0.path.utf8)) }
        let (transport, url) = (try await wire.transport(), peer.url)
        await withTaskGroup(of: (Int, HTTPOutcome).self) { group in
            for number in 0..<64 {
                group.addTask {
                    (
                        number,
                        await transport.send(HTTPRequest(method: "GET", url: "\(url)/\(number)"))
                    )
                }
            }
            for await (number, outcome) in group {
                guard case .answer(let answer) = outcome else {
                    Issue.record("\(outcome)")
                    continue
                }
                #expect(answer.body == Array("/\(number)".utf8))
            }
        }
        #expect(peer.requests.all.count == 64)
        await peer.stop()
    }

    // MARK: - Redirects

    @Test(
        arguments: Wire.allCases,
        [301, 302, 303, 307, 308])
    func
        `cases.md Redirects: R-100-24 a redirect is an answer wherever it points, and nobody is asked again`(
            _ wire: Wire, _ status: Int
        ) async throws
    {
        let other = try await peer()
        let targets = ["/else", other.url + "/", "http://127.0.0.1:\(other.port)/", "/"]
        let peer = try await peer { seen in
            let target = targets[Int(seen.path.dropFirst()) ?? 3]
            return TLSPeer.Answer(
                status: status, headers: [("Location", target)], body: Array("moved".utf8))
        }
        for (number, target) in targets.enumerated() {
            let outcome = try await wire.transport().send(
                HTTPRequest(
                    method: "POST", url: "\(peer.url)/\(number)",
                    headers: [HTTPHeader("Authorization", "DPoP t"), HTTPHeader("DPoP", "p")],
                    body: .bytes([1])))
            guard case .answer(let answer) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(answer.status == status)
            #expect(answer.single("Location") == target)
            #expect(answer.body == Array("moved".utf8))
            #expect(peer.requests.all.count == number + 1)
        }
        #expect(other.requests.all.isEmpty)
        await peer.stop()
        await other.stop()
    }

    @Test(arguments: Wire.allCases, [nil, "ht tp://%%", "", "//"])
    func `a redirect that points nowhere is an answer too`(
        _ wire: Wire, _ location: String?
    ) async throws {
        let peer = try await peer { _ in
            TLSPeer.Answer(
                status: 302, headers: location.map { [("Location", $0)] } ?? [],
                body: Array("moved".utf8))
        }
        guard case .answer(let answer) = try await get(wire, peer.url) else {
            Issue.record("no answer")
            return
        }
        #expect(answer.status == 302)
        #expect(peer.requests.all.count == 1)
        await peer.stop()
    }
}
