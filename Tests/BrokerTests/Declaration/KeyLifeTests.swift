import AssertionMint
import JOSE
import Testing

@testable import Broker

@Suite struct KeyLifeTests {
    static let keys = (0..<3).map { _ in Result { try PrivateKey.generate(.ES256).publicJWK } }

    static func key(_ index: Int, _ state: KeyState) throws -> Declaration.Key {
        Declaration.Key(
            kid: "k\(index)", uri: "file:/\(index)", state: state, publicJWK: try keys[index].get())
    }

    static func life(
        _ stored: [(Int, KeyState, Int64)], takeover: [String: Int64] = [:]
    ) throws -> KeyLife {
        KeyLife(
            client: try Sample.clientId("app"), settings: try Sample.settings(),
            stored: try stored.map { (key: try key($0.0, $0.1), age: $0.2) }, lifetime: 60,
            takeover: takeover)
    }

    private func isRefused(_ outcome: KeyLife.Outcome) -> Bool {
        if case .refused = outcome { true } else { false }
    }

    @Test func `a key is added pending, once`() throws {
        let life = try Self.life([(0, .active, 9)])
        let new = try Self.key(1, .pending)
        #expect(try life.outcome(of: .add(new)) == .keys([Self.key(0, .active), new]))
        #expect(
            try Self.life([(0, .active, 9), (1, .retiring, 9)]).outcome(of: .add(new)) == .alreadySo
        )
    }

    @Test func `a key of another algorithm, under a taken kid or under a second name is refused`()
        throws
    {
        let life = try Self.life([(0, .active, 9)])
        let rsa = Declaration.Key(
            kid: "r", uri: "file:/r", state: .pending,
            publicJWK: try PrivateKey.generate(.PS256).publicJWK)
        #expect(isRefused(life.outcome(of: .add(rsa))))
        let taken = Declaration.Key(
            kid: "k0", uri: "file:/1", state: .pending, publicJWK: try Self.keys[1].get())
        #expect(isRefused(life.outcome(of: .add(taken))))
        for (kid, uri) in [("k9", "file:/0"), ("k0", "file:/9")] {
            let again = Declaration.Key(
                kid: kid, uri: uri, state: .pending, publicJWK: try Self.keys[0].get())
            #expect(isRefused(life.outcome(of: .add(again))))
        }
    }

    @Test func `two keys are never at one place, where replicas could not tell which they have`()
        throws
    {
        let life = try Self.life([(0, .active, 9), (1, .pending, 9)])
        let other = Declaration.Key(
            kid: "k2", uri: "file:/1", state: .pending, publicJWK: try Self.keys[2].get())
        #expect(isRefused(life.outcome(of: .add(other))))
    }

    @Test(arguments: [(Int64(0), false), (309, false), (310, true)])
    func `a key signs once every cached key set has it, and the other goes on being published`(
        age: Int64, isAllowed: Bool
    ) throws {
        let life = try Self.life([(0, .active, 9999), (1, .pending, age)])
        let after = try [Self.key(0, .retiring), Self.key(1, .active)]
        let outcome = life.outcome(of: .activate(kid: "k1"))
        if isAllowed { #expect(outcome == .keys(after)) } else { #expect(isRefused(outcome)) }
        #expect(life.outcome(of: .activate(kid: "k1"), now: true) == .keys(after))
        #expect(life.outcome(of: .activate(kid: "k0")) == .alreadySo)
        #expect(life.outcome(of: .activate(kid: "k2")) == .unknownKey)
    }

    @Test(arguments: [
        (KeyState.retiring, Int64(119), false), (.retiring, 120, true), (.pending, 0, true),
    ])
    func `a key goes when nothing it signed is good any more`(
        state: KeyState, age: Int64, isAllowed: Bool
    ) throws {
        let life = try Self.life([(0, .active, 9999), (1, state, age)])
        let outcome = life.outcome(of: .retire(kid: "k1"))
        if isAllowed {
            #expect(try outcome == .keys([Self.key(0, .active)]))
        } else {
            #expect(isRefused(outcome))
        }
        #expect(isRefused(life.outcome(of: .retire(kid: "k0"))), "it signs")
        #expect(isRefused(life.outcome(of: .retire(kid: "k0"), now: true)), "even then")
        #expect(life.outcome(of: .retire(kid: "k2")) == .unknownKey)
    }

    @Test(arguments: [
        (Int64(0), Int64(309), false), (0, 310, true), (300, 9, false), (300, 10, true),
        (9999, 1, true), (9999, 0, false), (9999, -1, false),
    ])
    func `a key takes over later only when every cached key set will have it by then`(
        age: Int64, wait: Int64, isAllowed: Bool
    ) throws {
        let life = try Self.life([(0, .active, 9999), (1, .pending, age)])
        let outcome = life.outcome(of: .schedule(kid: "k1", in: wait))
        if isAllowed { #expect(outcome == .scheduled) } else { #expect(isRefused(outcome)) }
    }

    @Test func `one key is the next, and it can be taken back`() throws {
        let life = try Self.life(
            [(0, .active, 9999), (1, .pending, 999), (2, .pending, 999)], takeover: ["k1": 50])
        #expect(isRefused(life.outcome(of: .schedule(kid: "k2", in: 60))))
        #expect(life.outcome(of: .schedule(kid: "k1", in: 60)) == .scheduled, "another moment")
        #expect(life.outcome(of: .schedule(kid: "k1", in: nil)) == .scheduled)
        #expect(life.outcome(of: .schedule(kid: "k2", in: nil)) == .alreadySo)
        #expect(life.outcome(of: .schedule(kid: "k9", in: nil)) == .unknownKey)
        #expect(isRefused(life.outcome(of: .schedule(kid: "k0", in: 60))), "it signs")
        let retiring = try Self.life([(0, .retiring, 1), (1, .active, 1)])
        #expect(isRefused(retiring.outcome(of: .schedule(kid: "k0", in: 999))))
    }

    @Test func `a rotation leaves a key that takes over by itself alone`() throws {
        for (takeover, wait) in [(Int64(500), Int64(500)), (1, 1), (0, 1), (-3, 1)] {
            let life = try Self.life(
                [(0, .active, 9999), (1, .pending, 999)], takeover: ["k1": takeover])
            #expect(KeyRotation.next(to: "k1", in: life) == .wait(wait, for: .schedule))
        }
    }

    @Test func `a rotation goes from any point to the next`() throws {
        let steps: [([(Int, KeyState, Int64)], KeyRotation.Step)] = [
            ([(0, .active, 9)], .add),
            ([], .add),
            ([(0, .active, 9), (1, .pending, 0)], .wait(310, for: .publication)),
            ([(0, .active, 9), (1, .pending, 309)], .wait(1, for: .publication)),
            ([(0, .active, 9), (1, .pending, 310)], .activate),
            ([(0, .retiring, 0), (1, .active, 0)], .wait(120, for: .expiry(kid: "k0"))),
            ([(0, .retiring, 120), (1, .active, 120)], .retire(kid: "k0")),
            (
                [(0, .retiring, 60), (1, .active, 9), (2, .retiring, 100)],
                .wait(20, for: .expiry(kid: "k2"))
            ),
            ([(1, .active, 120)], .done),
            ([(1, .active, 120), (2, .pending, 0)], .done),
            ([(1, .retiring, 0), (2, .active, 0)], .outdated),
        ]
        for (stored, step) in steps {
            #expect(KeyRotation.next(to: "k1", in: try Self.life(stored)) == step, "\(stored)")
        }
    }
}
