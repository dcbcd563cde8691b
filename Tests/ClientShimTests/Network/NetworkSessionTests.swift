import JOSE
import Synchronization
import TestKit
import Testing

@testable import ClientShim

/// The session and `DPoPHTTP` over TLS, against the sandbox provider and an API on an origin of its own.
@Suite struct NetworkSessionTests {
    @Test(arguments: Wire.allCases)
    func `R-000-40 R-000-58 a sign-in, a call and a sign-out that revokes`(_ wire: Wire)
        async throws
    {
        let world = try await TLSWorld(wire)
        #expect(try await world.get().status == 200)
        let session = try #require(world.authn.currentSession())
        #expect(session.subject == "user-1")
        let kept = try await session.authorize(method: "GET", url: world.api.url)
        #expect(world.provider.liveGrants == 1)
        await world.authn.signOut()
        #expect(world.authn.currentSession() == nil)
        #expect(world.provider.liveGrants == 0)
        #expect(try await world.get().status == 401)
        let old = await world.environment.transport.send(
            HTTPRequest(method: "GET", url: world.api.url, headers: kept))
        guard case .answer(let answer) = old else {
            Issue.record("\(old)")
            return
        }
        #expect(
            AuthenticateChallenge.dpopError(in: answer.values("WWW-Authenticate"))
                == "invalid_token")
        await world.stop()
    }

    @Test(arguments: Wire.allCases)
    func `cases.md Nonce kept by origin: R-100-32 the provider's and each API's nonces are apart`(
        _ wire: Wire
    ) async throws {
        let world = try await TLSWorld(wire)
        let other = try await TLSAPI(try await Wire.certificate.value, world.provider)
        for _ in 0..<3 {
            for url in [world.api.url, other.url] {
                #expect(try await world.get(url).status == 200)
            }
            try await world.authn.currentSession()?.refresh()
        }
        // One challenge each, at first sight; all other proofs carried what their own peer wanted.
        #expect(world.api.requests.all.count == 4)
        #expect(other.requests.all.count == 4)
        #expect(world.provider.refreshes.count == 3)
        func nonces(_ api: TLSAPI) -> Set<String> {
            Set(
                api.requests.all.compactMap {
                    TLSAPI.claims(ofProof: $0.all("dpop").first)?["nonce"]?.string
                })
        }
        let seen = [
            nonces(world.api), nonces(other), Set(world.provider.given.all.compactMap(\.nonce)),
        ]
        #expect(seen.allSatisfy { !$0.isEmpty })
        #expect(seen[0].isDisjoint(with: seen[1]))
        #expect(seen[0].isDisjoint(with: seen[2]) && seen[1].isDisjoint(with: seen[2]))
        await other.stop()
        await world.stop()
    }

    @Test(arguments: Wire.allCases, [-10, 10])
    func `R-000-42 R-000-52 forty calls around the expiry make one refresh and all get through`(
        _ wire: Wire, _ seconds: Int64
    ) async throws {
        let world = try await TLSWorld(wire)
        #expect(try await world.get().status == 200)
        let old = try #require(try world.record).accessToken.expose()
        let before = world.api.requests.all.count
        try world.expire(inSeconds: seconds)
        try await withThrowingTaskGroup(of: HTTPAnswer.self) { group in
            for _ in 0..<40 { group.addTask { try await world.get() } }
            for try await answer in group { #expect(answer.status == 200) }
        }
        #expect(world.provider.refreshes.count == 1)
        let calls = world.api.requests.all.dropFirst(before)
        #expect(calls.count == 40)
        #expect(calls.allSatisfy { TLSWorld.token($0) != old })
        #expect(world.provider.liveGrants == 1)
        await world.stop()
    }

    @Test(arguments: Wire.allCases)
    func `R-000-43 R-000-54 a refused refresh ends the session and lets the API ask for a sign-in`(
        _ wire: Wire
    ) async throws {
        let world = try await TLSWorld(wire)
        try world.expire(inSeconds: -10)
        world.provider.revokeEverything()
        #expect(try await world.get().status == 401)
        #expect(world.api.requests.all.map { $0.all("authorization") } == [[]])
        #expect(world.authn.currentSession() == nil)
        #expect(try world.record == nil)
        await world.stop()
    }

    @Test(arguments: Wire.allCases, [TLSProvider.Place.atTheDoor, .onTheWayBack])
    func `R-000-44 R-000-55 a refresh whose connection is cut is lost, and the next one holds`(
        _ wire: Wire, _ place: TLSProvider.Place
    ) async throws {
        // Without rotation, as FAPI providers are: what was lost costs nothing.
        let world = try await TLSWorld(wire, rotates: false)
        _ = try await world.get()
        try world.expire(inSeconds: -10)
        let before = try #require(try world.record)
        let calls = world.api.requests.all.count
        world.provider.hold("/token", place)
        let lost = Task { try await world.get() }
        await world.provider.held.wait()
        world.provider.cutter.cut()
        await #expect(throws: DPoPHTTPError.connectionLost) { try await lost.value }
        world.provider.letGo()
        #expect(try world.record == before)
        #expect(world.api.requests.all.count == calls)
        #expect(try await world.get().status == 200)
        #expect(try world.record?.accessToken != before.accessToken)
        await world.stop()
    }

    @Test(arguments: Wire.allCases)
    func
        `R-000-44 while the provider is away a living token is used, a dead one is a lost connection`(
            _ wire: Wire
        ) async throws
    {
        let world = try await TLSWorld(wire)
        world.provider.cutter.isRefusing = true
        world.provider.cutter.cut()
        try world.expire(inSeconds: 20)
        #expect(try await world.get().status == 200)
        try world.expire(inSeconds: -10)
        await #expect(throws: DPoPHTTPError.connectionLost) { try await world.get() }
        #expect(world.authn.currentSession() != nil)
        world.provider.cutter.isRefusing = false
        #expect(try await world.get().status == 200)
        #expect(world.provider.refreshes.count == 1)
        await world.stop()
    }

    @Test(arguments: Wire.allCases)
    func `R-000-46 R-000-58 an access token revoked at the provider ends the session at its 401`(
        _ wire: Wire
    ) async throws {
        let world = try await TLSWorld(wire)
        #expect(try await world.get().status == 200)
        world.provider.revokeEverything()
        #expect(try await world.get().status == 401)
        #expect(world.provider.refreshes.count == 1)
        #expect(world.authn.currentSession() == nil)
        await world.stop()
    }

    @Test(arguments: Wire.allCases)
    func `cases.md Redirects: token and proof never go to another origin`(
        _ wire: Wire
    ) async throws {
        let world = try await TLSWorld(wire)
        let other = try TLSPeer(try await Wire.certificate.value)
        let targets = [
            other.url + "/accounts", "http://127.0.0.1:\(other.port)/", "/elsewhere", "/accounts",
        ]
        for (target, status) in targets.flatMap({ target in [302, 307, 308].map { (target, $0) } })
        {
            let count = world.api.requests.all.count
            world.api.answerFirst { _ in
                TLSPeer.Answer(status: status, headers: [("Location", target)])
            }
            let answer = try await world.get()
            #expect(answer.status == status)
            #expect(answer.single("Location") == target)
            #expect(world.api.requests.all.count == count + 1)
        }
        #expect(other.requests.all.isEmpty)
        await other.stop()
        await world.stop()
    }

    @Test(arguments: Wire.allCases, [0, 1, 5 << 20])
    func `cases.md One-shot bodies: a nonce repeat delivers the same octets and their length`(
        _ wire: Wire, _ count: Int
    ) async throws {
        let world = try await TLSWorld(wire)
        let body = (0..<count).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8)) }
        let answer = try await world.http.data(
            for: HTTPRequest(
                method: "PUT", url: world.api.url, body: .bytes(body),
                maximumAnswerBytes: 8 << 20))
        #expect(answer.status == 200)
        #expect(answer.body == body)
        let seen = world.api.requests.all
        #expect(seen.count == 2)
        #expect(seen.allSatisfy { $0.body == body && $0.all("content-length") == ["\(count)"] })
        #expect(seen[0].all("dpop") != seen[1].all("dpop"))
        await world.stop()
    }

    @Test(arguments: Wire.allCases)
    func
        `cases.md One-shot bodies: R-000-45 a stream is sent once, its 401 returned and its nonce kept`(
            _ wire: Wire
        ) async throws
    {
        let world = try await TLSWorld(wire)
        let reads = Mutex(0)
        func upload() async throws -> HTTPAnswer {
            let isRead = Mutex(false)
            return try await world.http.upload(HTTPRequest(method: "POST", url: world.api.url)) {
                reads.withLock { $0 += 1 }
                return isRead.withLock { isRead in
                    defer { isRead = true }
                    return isRead ? nil : Array("once".utf8)
                }
            }
        }
        let refused = try await upload()
        #expect(refused.status == 401)
        #expect(
            AuthenticateChallenge.dpopError(in: refused.values("WWW-Authenticate"))
                == "use_dpop_nonce")
        #expect(world.api.requests.all.count == 1)
        #expect(reads.withLock { $0 } == 2)
        // The app has another stream for the same bytes, and the nonce is known by now.
        let taken = try await upload()
        #expect(taken.status == 200)
        #expect(taken.body == Array("once".utf8))
        #expect(world.api.requests.all.map(\.body) == [taken.body, taken.body])
        await world.stop()
    }
}
