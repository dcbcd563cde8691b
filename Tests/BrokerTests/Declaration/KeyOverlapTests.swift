import AssertionMint
import JOSE
import Testing

@testable import Broker

/// cases.md "Rotation without overlap": whatever is applied, a provider that caches the key set for its `max-age` never
/// meets a key it does not know.
@Suite struct KeyOverlapTests {
    static let keys = (0..<2).map { _ in Result { try PrivateKey.generate(.ES256).publicJWK } }

    static func key(_ index: Int, _ state: KeyState) throws -> Declaration.Key {
        Declaration.Key(
            kid: "k\(index)", uri: "file:/\(index)", state: state, publicJWK: try keys[index].get())
    }

    func conflicts(
        _ declared: [Declaration.Key], over stored: [(Declaration.Key, Int64)],
        scheduled: Set<String> = []
    ) throws -> [String] {
        KeyOverlap(
            client: try Sample.clientId("app"), stored: stored.map { (key: $0.0, age: $0.1) },
            lifetime: 60, scheduled: scheduled
        )
        .conflicts(declared)
    }

    @Test func `a client's first keys overlap with nothing`() throws {
        #expect(try conflicts([Self.key(0, .active)], over: []).isEmpty)
    }

    @Test(arguments: [(Int64(0), false), (309, false), (310, true)])
    func `a pending key signs only after the key set's max-age`(age: Int64, isAllowed: Bool) throws
    {
        let found = try conflicts(
            [Self.key(0, .retiring), Self.key(1, .active)],
            over: [(Self.key(0, .active), 9999), (Self.key(1, .pending), age)])
        #expect(found.isEmpty == isAllowed)
    }

    @Test func `a key that was never published does not sign`() throws {
        let found = try conflicts(
            [Self.key(0, .retiring), Self.key(1, .active)], over: [(Self.key(0, .active), 9999)])
        #expect(found.count == 1)
    }

    @Test func `a retiring key may sign again at once, since it is still published`() throws {
        let found = try conflicts(
            [Self.key(0, .active), Self.key(1, .retiring)],
            over: [(Self.key(0, .retiring), 0), (Self.key(1, .active), 1)])
        #expect(found.isEmpty)
    }

    @Test(arguments: [KeyState.active, .retiring])
    func `a key that has signed does not become pending, from where it could go at once`(
        state: KeyState
    ) throws {
        let found = try conflicts(
            [Self.key(0, .pending), Self.key(1, .active)],
            over: [(Self.key(0, state), 9999), (Self.key(1, .retiring), 9999)])
        #expect(found.count == 1)
    }

    @Test(arguments: [
        (KeyState.active, Int64(9999), false), (.retiring, 119, false), (.retiring, 120, true),
        (.pending, 0, true),
    ])
    func `a key leaves the set only when nothing it signed can be good any more`(
        state: KeyState, age: Int64, isAllowed: Bool
    ) throws {
        let found = try conflicts(
            [Self.key(1, .active)],
            over: [(Self.key(0, state), age), (Self.key(1, .retiring), 9999)])
        #expect(found.isEmpty == isAllowed)
    }

    @Test(arguments: [[(0, KeyState.active)], [(0, .active), (1, .pending)]])
    func `a key that never signed does not become retiring, from where it could sign at once`(
        stored: [(Int, KeyState)]
    ) throws {
        let found = try conflicts(
            [Self.key(0, .active), Self.key(1, .retiring)],
            over: try stored.map { (try Self.key($0.0, $0.1), 9999) })
        #expect(found.count == 1)
    }

    @Test func `a key that is to take over does not go unsaid`() throws {
        let stored = [(try Self.key(0, .active), Int64(9999)), (try Self.key(1, .pending), 9)]
        #expect(try conflicts([Self.key(0, .active)], over: stored).isEmpty)
        #expect(
            try conflicts([Self.key(0, .active)], over: stored, scheduled: ["k1"]).count == 1)
        #expect(
            try conflicts(
                [Self.key(0, .active), Self.key(1, .pending)], over: stored, scheduled: ["k1"]
            ).isEmpty)
    }
}
