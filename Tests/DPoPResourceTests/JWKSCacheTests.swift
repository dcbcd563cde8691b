import JOSE
import Synchronization
import Testing

@testable import DPoPResource

@Suite struct JWKSCacheTests {
    /// Gives what the test says, and counts.
    final class ScriptedFetcher: JWKSFetcher {
        private struct State {
            var answer: Result<FetchedJWKS, JWKSFault>
            var count = 0
        }

        private let state: Mutex<State>

        init(_ answer: Result<FetchedJWKS, JWKSFault>) {
            state = Mutex(State(answer: answer))
        }

        var count: Int { state.withLock { $0.count } }

        func answer(with answer: Result<FetchedJWKS, JWKSFault>) {
            state.withLock { $0.answer = answer }
        }

        func fetch(_ uri: String) async throws(JWKSFault) -> FetchedJWKS {
            let answer = state.withLock { state in
                state.count += 1
                return state.answer
            }
            await Task.yield()
            return try answer.get()
        }
    }

    let uri = "https://idp.example/jwks"
    let first: JWKSet
    let second: JWKSet

    init() throws {
        first = JWKSet([try Self.named("a")])
        second = JWKSet([try Self.named("b")])
    }

    static func named(_ kid: String) throws -> PublicJWK {
        var jwk = try PrivateKey.generate(.ES256).publicJWK
        jwk.kid = kid
        return jwk
    }

    func cache(
        _ keys: JWKSet, maximumAge: Int64? = 600
    ) -> (JWKSCache, ScriptedFetcher) {
        let fetcher = ScriptedFetcher(.success(FetchedJWKS(keys: keys, maximumAge: maximumAge)))
        return (JWKSCache(fetcher: fetcher), fetcher)
    }

    @Test(
        arguments: [(nil, 300), (0, 300), (299, 300), (600, 600), (1_000_000, 86_400)]
            as [(Int64?, Int64)])
    func `max-age counts between the bounds`(published: Int64?, kept: Int64) async throws {
        let (cache, fetcher) = cache(first, maximumAge: published)
        _ = try await cache.keySet(at: uri, containing: "a", now: 0)
        _ = try await cache.keySet(at: uri, containing: "a", now: kept - 1)
        #expect(fetcher.count == 1)
        _ = try await cache.keySet(at: uri, containing: "a", now: kept)
        #expect(fetcher.count == 2)
    }

    @Test func `an unknown kid causes one fetch, and no other before the cool-down is over`()
        async throws
    {
        let (cache, fetcher) = cache(first)
        _ = try await cache.keySet(at: uri, containing: "a", now: 0)
        fetcher.answer(with: .success(FetchedJWKS(keys: second, maximumAge: 600)))
        #expect(try await cache.keySet(at: uri, containing: "b", now: 9) == first)
        #expect(fetcher.count == 1)
        #expect(try await cache.keySet(at: uri, containing: "b", now: 10) == second)
        #expect(fetcher.count == 2)
        for now: Int64 in 11...19 {
            _ = try await cache.keySet(at: uri, containing: "c", now: now)
        }
        #expect(fetcher.count == 2)
    }

    @Test func `a known kid and no kid cause none`() async throws {
        let (cache, fetcher) = cache(first)
        _ = try await cache.keySet(at: uri, containing: "a", now: 0)
        _ = try await cache.keySet(at: uri, containing: "a", now: 100)
        _ = try await cache.keySet(at: uri, containing: nil, now: 100)
        #expect(fetcher.count == 1)
    }

    @Test func `the last good set serves while a fetch fails`() async throws {
        let (cache, fetcher) = cache(first)
        _ = try await cache.keySet(at: uri, containing: "a", now: 0)
        fetcher.answer(with: .failure(.unreachable))
        #expect(try await cache.keySet(at: uri, containing: "a", now: 700) == first)
        #expect(fetcher.count == 2)
        #expect(try await cache.keySet(at: uri, containing: "a", now: 705) == first)
        #expect(fetcher.count == 2)
    }

    @Test func `without a good set there is an error, and one new try a second`() async throws {
        let (cache, fetcher) = cache(first)
        fetcher.answer(with: .failure(.malformed))
        for _ in 1...3 {
            await #expect(throws: JWKSFault.malformed) {
                try await cache.keySet(at: uri, containing: "a", now: 0)
            }
        }
        #expect(fetcher.count == 1)
        fetcher.answer(with: .success(FetchedJWKS(keys: first, maximumAge: nil)))
        #expect(try await cache.keySet(at: uri, containing: "a", now: 1) == first)
    }

    @Test func `as many unknown kids as a stranger likes cause one fetch in ten seconds`()
        async throws
    {
        let (cache, fetcher) = cache(first)
        for now: Int64 in 0..<100 {
            for number in 0..<10 {
                _ = try await cache.keySet(at: uri, containing: "\(now) \(number)", now: now)
            }
        }
        #expect(fetcher.count == 10)
    }

    @Test func `sets of two publishers are kept apart`() async throws {
        let (cache, fetcher) = cache(first)
        _ = try await cache.keySet(at: uri, containing: "a", now: 0)
        fetcher.answer(with: .success(FetchedJWKS(keys: second, maximumAge: 600)))
        #expect(try await cache.keySet(at: uri + "2", containing: "b", now: 0) == second)
        #expect(try await cache.keySet(at: uri, containing: "a", now: 0) == first)
    }

    @Test func `100 requests at once cause one fetch, and each gets what it brought`() async throws
    {
        let (cache, fetcher) = cache(first)
        for (now, kid, keys) in [(Int64(0), "a", first), (100, "b", second)] {
            fetcher.answer(with: .success(FetchedJWKS(keys: keys, maximumAge: 600)))
            let served = try await withThrowingTaskGroup(of: JWKSet.self) { group in
                for _ in 0..<100 {
                    group.addTask { try await cache.keySet(at: uri, containing: kid, now: now) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(served.allSatisfy { $0 == keys })
        }
        #expect(fetcher.count == 2)
    }

    static let fields: [([String], String?, Int64?)] = [
        ([], nil, nil), (["max-age=60"], nil, 60), (["public, max-age=60"], "10", 50),
        (["max-age=60"], "70", 0), (["no-store, max-age=60"], nil, 0), (["no-cache"], nil, 0),
        (["MAX-AGE=60"], nil, 60), (["max-age=\"60\""], nil, 60), (["max-age=-1"], nil, nil),
        (["max-age"], nil, nil), (["max-age=60", "max-age=30"], nil, 30),
        (["max-age=99999999999999999999"], nil, nil), (["max-age=60"], "x", 60),
    ]

    @Test(arguments: fields)
    func `Cache-Control is read by its grammar`(values: [String], age: String?, expected: Int64?) {
        #expect(CacheControl.maximumAge(values, age: age) == expected)
    }
}
