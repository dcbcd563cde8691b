import DPoPResource
import Foundation
import HTTPClient
import JOSE
import SocketServer
import Synchronization
import TestKit
import Testing

/// `docs/integrate-api.md`: what an engineer copies compiles, and does what the page says, on real sockets and with tokens that
/// PyJWT made.
@Suite struct IntegrateAPITests {
    @Test func `every snippet of the page is code that is compiled and run here`() throws {
        let (count, missing) = try PageSnippets.missing(
            of: "integrate-api.md", in: "DPoPResourceTests/Documentation/IntegrateAPI.swift")
        #expect(count >= 3)
        #expect(missing == [])
    }

    @Test func `R-000-82 a client is asked for a nonce once, is served once, and a replay is not`()
        async throws
    {
        let nonces = try #require(try IntegrateAPI.nonces())
        var served = OutsideCall()
        served.proof.claims["nonce"] = "\"\(nonces.current(OutsideCall.now))\""
        var stale = OutsideCall()
        stale.proof.claims["nonce"] = "\"\(nonces.current(OutsideCall.now - 240))\""
        let made = try await Oracle.ask(
            "access_tokens.py",
            ["{\"jwks\":[\"p256:issuer\"]}", OutsideCall().json, served.json, stale.json])
        let issuer = try Publisher { _ in
            HTTPResponse(
                status: 200, headers: [("Cache-Control", "max-age=600")],
                body: Array((try? JWKSet(made[0]))?.jsonText.utf8 ?? "".utf8))
        }
        let verifier = try IntegrateAPI.verifier(
            jwksURI: issuer.url, fetcher: HTTPJWKSFetcher(allowInsecureLoopback: true),
            nonces: nonces)
        let api = try Publisher { request in
            await IntegrateAPI.answer(
                verifier, method: request.head.method, target: "/accounts",
                fields: ["authorization", "dpop"].flatMap { name in
                    request.head.headers.all(name).map { (name, $0) }
                }, now: OutsideCall.now)
        }
        let first = try await ask(api, made[1])
        #expect(first.status == 401)
        #expect(
            first.headers.first("WWW-Authenticate")
                == "DPoP error=\"use_dpop_nonce\", algs=\"ES256 PS256\"")
        #expect(first.headers.values("DPoP-Nonce") == [nonces.current(OutsideCall.now)])
        #expect(first.headers.first("Cache-Control") == "no-store")
        #expect(try await ask(api, made[3]).headers.first("DPoP-Nonce") != nil)
        let second = try await ask(api, made[2])
        #expect(second.status == 200)
        #expect(String(decoding: second.body, as: UTF8.self) == "Hello u")
        let replay = try await ask(api, made[2])
        #expect(replay.status == 401)
        #expect(replay.headers.first("DPoP-Nonce") == nil)
        #expect(
            replay.headers.first("WWW-Authenticate")
                == "DPoP error=\"invalid_dpop_proof\", algs=\"ES256 PS256\"")
        #expect(issuer.count == 1)
        await issuer.stop()
        #expect(try await ask(api, made[1]).status == 401)
        await api.stop()
    }

    @Test func `an API that never got its issuer's keys says that it is the one at fault`()
        async throws
    {
        let nonces = try #require(try IntegrateAPI.nonces())
        var call = OutsideCall()
        call.proof.claims["nonce"] = "\"\(nonces.current(OutsideCall.now))\""
        let made = try await Oracle.ask("access_tokens.py", [call.json])
        let verifier = try IntegrateAPI.verifier(
            jwksURI: "http://127.0.0.1:1/jwks",
            fetcher: HTTPJWKSFetcher(allowInsecureLoopback: true), nonces: nonces)
        let answer = await IntegrateAPI.answer(
            verifier, method: "GET", target: "/accounts",
            fields: [
                ("Authorization", "DPoP \(made[0]["token"]?.string ?? "")"),
                ("DPoP", made[0]["proof"]?.string ?? ""),
            ], now: OutsideCall.now)
        #expect(answer.status == 503)
        #expect(answer.headers.contains { $0.name == "Retry-After" && $0.value == "1" })
        #expect(!answer.headers.contains { $0.name == "WWW-Authenticate" })
    }

    private func ask(_ api: Publisher, _ made: JSONValue) async throws -> HTTPAnswer {
        let client = HTTPClient(configuration: HTTPClientConfiguration(allowInsecureLoopback: true))
        let outcome = await client.send(
            method: "GET", url: api.url,
            headers: [
                ("Authorization", "DPoP \(made["token"]?.string ?? "")"),
                ("DPoP", made["proof"]?.string ?? ""),
            ])
        guard case .answer(let answer) = outcome else { throw Lost() }
        return answer
    }

    struct Lost: Error {}
}

/// One resource on a real socket.
private final class Publisher: HTTPHandler {
    private let answer: @Sendable (HTTPRequest) async -> HTTPResponse
    private let counter = Mutex(0)
    private let server = Mutex<HTTPServer?>(nil)
    private let port = Mutex<UInt16>(0)

    init(_ answer: @escaping @Sendable (HTTPRequest) async -> HTTPResponse) throws {
        self.answer = answer
        let server = try HTTPServer(
            HTTPServerConfiguration(address: "127.0.0.1", port: 0), lanes: [Lane(index: 0)],
            handler: self)
        try server.start()
        self.server.withLock { $0 = server }
        port.withLock { $0 = server.port }
    }

    var url: String { "http://127.0.0.1:\(port.withLock { $0 })/accounts" }
    var count: Int { counter.withLock { $0 } }

    func stop() async {
        await server.withLock { $0.take() }?.drain(grace: .zero)
    }

    func admit(_ head: HTTPRequestHead, on lane: Lane) -> Admission { .read(bodyLimit: 0) }

    func handle(_ request: HTTPRequest, on lane: Lane, reply: Reply) {
        counter.withLock { $0 += 1 }
        Task { [answer] in reply.send(await answer(request)) }
    }

    func answer(to rejection: HTTPRejection, from remote: RemoteAddress) -> HTTPResponse {
        HTTPResponse(status: rejection.status)
    }
}
