import JOSE
import TestKit
import Testing

@testable import Broker

/// cases.md "ratelimit", through the whole service and a real Postgres. Time is moved in what the database has stored.
@Suite struct ServiceRateLimitTests {
    /// Three at once, and one more every 60 s.
    static let threeAMinute = "{install: {burst: 3, rate: 1, per: 60}}"
    static let step: Int64 = 60_000_000

    @Test func `Retry-After is the stored wait in whole seconds, rounded up`() async throws {
        let deployment = try await Deployment(limits: Self.threeAMinute)
        let broker = try await deployment.start()
        for _ in 0..<3 { #expect(try await broker.settled(.token(deployment.token)).status == 200) }
        // At 0.2 s, 59.2 s and 59.999 s.
        for passed in [200_000, 59_000_000, 799_000] as [Int64] {
            try await deployment.letPass(microseconds: passed, for: Sample.jkt)
            let before = try await deployment.now()
            let response = try await broker.settled(.token(deployment.token))
            let after = try await deployment.now()
            let permitAt = try await deployment.fullAgain(Sample.jkt) - 2 * Self.step
            guard response.status == 429 else {
                // Only right when the permit had come back in the meantime.
                #expect(permitAt - Self.step <= after)
                break
            }
            let seconds = try #require(response.first("retry-after").flatMap { Int64($0) })
            // The database decided between the two moments.
            #expect(seconds >= max(1, (permitAt - after + 999_999) / 1_000_000))
            #expect(seconds <= max(1, (permitAt - before + 999_999) / 1_000_000))
            #expect(response.first("ratelimit") == "\"install\";r=0;t=\(seconds)")
        }
        await broker.stop()
    }

    @Test func `a client that waits exactly as long as it was told is let in`() async throws {
        let deployment = try await Deployment(limits: Self.threeAMinute)
        let broker = try await deployment.start()
        for _ in 0..<3 { #expect(try await broker.settled(.token(deployment.token)).status == 200) }
        for _ in 0..<3 {
            let refused = try await broker.settled(.token(deployment.token))
            let seconds = try #require(refused.first("retry-after").flatMap { Int64($0) })
            try await deployment.letPass(microseconds: seconds * 1_000_000, for: Sample.jkt)
            #expect(try await broker.settled(.token(deployment.token)).status == 200)
        }
        #expect(try await deployment.jtis().count == 6, "a refused call leaves no row")
        await broker.stop()
    }

    @Test func `a client that comes a second before it was told is refused, but for the rounding`()
        async throws
    {
        let deployment = try await Deployment(limits: Self.threeAMinute)
        let broker = try await deployment.start()
        for _ in 0..<3 { #expect(try await broker.settled(.token(deployment.token)).status == 200) }
        var refusals = 0
        // On a busy machine the second may pass by itself before the call is decided: then it must be let in, and this is
        // tried again.
        while refusals == 0 {
            // 59.9 s are left until the next permit: 60 are told, and after 59 of them 0.9 s are missing.
            let now = try await deployment.now()
            try await deployment.query(
                "UPDATE broker.install_rate SET tat = \(now + 2 * Self.step + 59_900_000)")
            let told = try await broker.settled(.token(deployment.token))
            if try await deployment.now() - now < 900_000 {
                #expect(told.first("retry-after") == "60")
            }
            try await deployment.letPass(microseconds: 59_000_000, for: Sample.jkt)
            let permitAt = try await deployment.fullAgain(Sample.jkt) - 2 * Self.step
            let response = try await broker.settled(.token(deployment.token))
            if try await deployment.now() < permitAt {
                #expect(response.status == 429)
                #expect(response.first("retry-after") == "1")
                refusals += 1
            }
        }
        await broker.stop()
    }

    @Test func `a refused call spends nothing, however often it is made`() async throws {
        let deployment = try await Deployment(limits: "{install: {burst: 3, rate: 1, per: 86400}}")
        let broker = try await deployment.start()
        for _ in 0..<3 { _ = try await broker.settled(.token(deployment.token)) }
        let stored = try await deployment.fullAgain(Sample.jkt)
        for _ in 0..<20 {
            #expect(try await broker.settled(.token(deployment.token)).status == 429)
        }
        #expect(try await deployment.fullAgain(Sample.jkt) == stored)
        await broker.stop()
    }

    @Test func `at the edge of a window there is no second burst`() async throws {
        let deployment = try await Deployment(limits: "{install: {burst: 30, rate: 1, per: 3600}}")
        let broker = try await deployment.start()
        let burst = { @Sendable () async throws -> [WireResponse] in
            try await atOnce(30) { _ in try await broker.settled(.token(deployment.token)) }
        }
        #expect(try await burst().allSatisfy { $0.status == 200 })
        try await deployment.letPass(microseconds: 200_000, for: Sample.jkt)
        let second = try await burst()
        #expect(second.allSatisfy { $0.status == 429 })
        #expect(
            second.allSatisfy {
                (1...3600).contains($0.first("retry-after").flatMap { Int($0) } ?? 0)
            })
        // What comes back in fifteen steps is fifteen permits, and not one more.
        try await deployment.letPass(microseconds: 15 * 3_600_000_000, for: Sample.jkt)
        #expect(try await burst().count { $0.status == 200 } == 15)
        await broker.stop()
    }

    @Test func `of 200 racing mints over two brokers exactly as many pass as the limit has`()
        async throws
    {
        let deployment = try await Deployment(limits: "{install: {burst: 10, rate: 1, per: 86400}}")
        let brokers = [try await deployment.start(), try await deployment.start()]
        let race = { @Sendable () async throws -> [Int] in
            try await atOnce(200) { number in
                try await brokers[number % 2].settled(.token(deployment.token)).status
            }
        }
        // From no row.
        let first = try await race()
        #expect(first.count { $0 == 200 } == 10)
        #expect(first.count { $0 == 429 } == 190)
        // At nine of ten.
        try await deployment.letPass(microseconds: 86_400_000_000, for: Sample.jkt)
        #expect(try await race().count { $0 == 200 } == 1)
        // When all of it has just come back.
        try await deployment.query(
            "UPDATE broker.install_rate SET tat = \(try await deployment.now())")
        #expect(try await race().count { $0 == 200 } == 10)
        #expect(try await deployment.jtis().count == 21)
        for broker in brokers { await broker.stop() }
    }

    @Test
    func `of two limits that are used up the longer wait is told, so that it is never too early`()
        async throws
    {
        let deployment = try await Deployment(
            limits:
                "{install: {burst: 2, rate: 1, per: 3600}, client: {burst: 3, rate: 1, per: 60}}")
        let broker = try await deployment.start()
        for _ in 0..<2 { #expect(try await broker.settled(.token(deployment.token)).status == 200) }
        let other = try Install().jkt
        #expect(
            try await broker.settled(.token(deployment.token) { $0.dpopJkt = other }).status == 200)
        let refused = try await broker.settled(.token(deployment.token))
        #expect(try refused.json()["policy"]?.string == "install")
        let seconds = try #require(refused.first("retry-after").flatMap { Int64($0) })
        #expect(seconds > 3500)
        // The other install has only the client's limit against it.
        let shorter = try await broker.settled(.token(deployment.token) { $0.dpopJkt = other })
        #expect(try shorter.json()["policy"]?.string == "client")
        #expect(try #require(shorter.first("retry-after").flatMap { Int64($0) }) <= 60)
        try await deployment.letPass(microseconds: seconds * 1_000_000, for: Sample.jkt)
        try await deployment.query(
            "UPDATE broker.shared_rate SET tat = tat - \(seconds * 1_000_000)")
        #expect(try await broker.settled(.token(deployment.token)).status == 200)
        await broker.stop()
    }

    @Test func `a client's limit stops a flood of fresh installs and spends nobody else's`()
        async throws
    {
        let deployment = try await Deployment(
            limits:
                "{install: {burst: 5, rate: 1, per: 86400}, client: {burst: 40, rate: 1, per: 86400}}"
        )
        let brokers = [try await deployment.start(), try await deployment.start()]
        let well = try Install().jkt
        #expect(
            try await brokers[0].settled(.token(deployment.token) { $0.dpopJkt = well }).status
                == 200)
        let responses = try await atOnce(300) { number in
            let jkt = Base64URL.encode(try SecureRandom.bytes(32))
            return try await brokers[number % 2].settled(
                .token(deployment.token) { $0.dpopJkt = jkt })
        }
        #expect(responses.count { $0.status == 200 } == 39)
        let refused = responses.filter { $0.status == 429 }
        #expect(refused.count == 261)
        #expect(try refused.allSatisfy { try $0.json()["policy"]?.string == "client" })
        #expect(try await deployment.query("SELECT count(*) FROM broker.install_rate") == "40")
        // The well-behaved install is refused by the client's limit, and its own is not touched.
        let stopped = try await brokers[1].settled(.token(deployment.token) { $0.dpopJkt = well })
        #expect(try stopped.json()["policy"]?.string == "client")
        try await deployment.query("UPDATE broker.shared_rate SET tat = 0")
        let goesOn = try await brokers[1].settled(.token(deployment.token) { $0.dpopJkt = well })
        #expect(goesOn.first("ratelimit")?.hasPrefix("\"install\";r=3;") == true)
        // Another client never noticed.
        #expect(
            try await brokers[0].settled(.token(deployment.token) { $0.clientId = "other" }).status
                == 200)
        for broker in brokers { await broker.stop() }
    }

    @Test func `a tenant's limit holds over all of its clients`() async throws {
        let deployment = try await Deployment()
        try await deployment.declare(
            limits: Deployment.ample, tenantLimits: "{tenant: {burst: 4, rate: 1, per: 86400}}")
        let broker = try await deployment.start()
        let responses = try await atOnce(20) { number in
            try await broker.settled(
                .token(deployment.token) { $0.clientId = number % 2 == 0 ? "app" : "other" })
        }
        #expect(responses.count { $0.status == 200 } == 4)
        #expect(
            try responses.filter { $0.status == 429 }.allSatisfy {
                try $0.json()["policy"]?.string == "tenant"
            })
        await broker.stop()
    }

    @Test func `keys that are no thumbprints make no entry, and letter case makes another install`()
        async throws
    {
        let deployment = try await Deployment(limits: Self.threeAMinute)
        let broker = try await deployment.start()
        for key in [String(repeating: "A", count: 3500), Sample.jkt + " ", "", Sample.jkt + "="] {
            #expect(
                try await broker.settled(.token(deployment.token) { $0.dpopJkt = key }).status
                    == 400)
        }
        #expect(try await deployment.query("SELECT count(*) FROM broker.install_rate") == "0")
        let swapped = "0zcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"
        for key in [Sample.jkt, swapped] {
            let response = try await broker.settled(.token(deployment.token) { $0.dpopJkt = key })
            #expect(response.first("ratelimit")?.hasPrefix("\"install\";r=2;") == true)
        }
        await broker.stop()
    }

    @Test func `a new limit acts at once, in every broker`() async throws {
        let deployment = try await Deployment(limits: "{install: {burst: 1, rate: 1, per: 86400}}")
        let brokers = [try await deployment.start(), try await deployment.start()]
        #expect(try await brokers[0].settled(.token(deployment.token)).status == 200)
        #expect(try await brokers[1].settled(.token(deployment.token)).status == 429)
        // A bucket of ten days that owes one day has nine permits.
        try await deployment.declare(limits: "{install: {burst: 10, rate: 1, per: 86400}}")
        for broker in brokers {
            #expect(try await broker.settled(.token(deployment.token)).status == 200)
        }
        for broker in brokers { await broker.stop() }
    }
}
