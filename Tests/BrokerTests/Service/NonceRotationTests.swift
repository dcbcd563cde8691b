import JOSE
import TestKit
import Testing

@testable import Broker

/// The secret of the DPoP nonces rotates, over real Postgres and several replicas (docs/adr/0008).
@Suite struct NonceRotationTests {
    /// A database with its first secret.
    private static func deployment() async throws -> Deployment {
        let deployment = try await Deployment()
        try await DirectoryRepository(
            connection: ControlConnection(conninfo: deployment.url), keys: SigningKeys()
        ).ensureNonceSecret()
        #expect(try await deployment.query("SELECT count(*) FROM broker.server_secret") == "1")
        return deployment
    }

    private static func proof(_ install: Install, _ nonce: String?) throws -> MintCall {
        .proof(
            try install.proof(
                for: Deployment.publicURL + "/v1/assertions", iat: WallClock.system.seconds,
                nonce: nonce), jkt: install.jkt)
    }

    /// The nonce that a replica hands out now.
    private static func nonce(of broker: RunningBroker, _ install: Install) async throws -> String {
        let response = try await broker.send(proof(install, nil))
        #expect(response.code == "use_dpop_nonce")
        return try #require(response.first("dpop-nonce"))
    }

    /// Which of the secrets in the database, counted from the oldest, made a nonce just now.
    private static func maker(of nonce: String, _ deployment: Deployment) async throws -> Int? {
        let values = try await deployment.query(
            "SELECT encode(value, 'hex') FROM broker.server_secret ORDER BY created_at")
        let secrets = values.split(separator: "\n").map { line in
            stride(from: 0, to: line.utf8.count, by: 2).compactMap { offset in
                UInt8(line.dropFirst(offset).prefix(2), radix: 16)
            }
        }
        let now = WallClock.system.seconds
        return secrets.firstIndex { value in
            let secret = DPoPNonces.Secret(value: value, age: 100, now: now)
            return DPoPNonces(secrets: [secret])?.accepts(nonce, now: now) == true
        }
    }

    /// Lets the database's time go by for the secrets.
    private static func letPass(_ interval: String, _ deployment: Deployment) async throws {
        try await deployment.query(
            """
            UPDATE broker.server_secret SET created_at = created_at - interval '\(interval)';
            SELECT broker.bump_revision()
            """)
    }

    private static func rotate(_ deployment: Deployment) async throws -> Bool {
        try await StoreMaintenance(connection: ControlConnection(conninfo: deployment.url)).run()
            .rotated
    }

    /// Every replica's nonce, at every replica, with an install that never came before and one that did.
    private static func everyFreshNoncePasses(_ brokers: [RunningBroker], _ moment: String)
        async throws
    {
        for giver in brokers {
            let install = try Install()
            let nonce = try await nonce(of: giver, install)
            for taker in brokers {
                let response = try await taker.settled(proof(install, nonce))
                #expect(response.status == 200, "\(moment): \(response.text)")
            }
        }
    }

    @Test func `no proof with a fresh nonce is refused by any replica, all through a rotation`()
        async throws
    {
        let deployment = try await Self.deployment()
        let brokers = [try await deployment.start(), try await deployment.start()]
        try await Self.everyFreshNoncePasses(brokers, "before")
        let before = try await Self.nonce(of: brokers[0], try Install())

        try await Self.letPass("1 day", deployment)
        // A replica may have been faster with it.
        _ = try await Self.rotate(deployment)
        #expect(try await deployment.query("SELECT count(*) FROM broker.server_secret") == "2")
        // A mint is what finds an outdated directory; afterwards both replicas know the new secret.
        try await Self.everyFreshNoncePasses(brokers, "just rotated")
        for broker in brokers {
            let nonce = try await Self.nonce(of: broker, try Install())
            #expect(try await Self.maker(of: nonce, deployment) == 0, "not active yet")
        }

        try await Self.letPass("61 seconds", deployment)
        try await Self.everyFreshNoncePasses(brokers, "taking over")
        for broker in brokers {
            let nonce = try await Self.nonce(of: broker, try Install())
            #expect(try await Self.maker(of: nonce, deployment) == 1, "the new one makes them")
            // One handed out before is still alive.
            let install = try Install()
            #expect(try await broker.settled(Self.proof(install, before)).status == 200)
        }

        try await Self.letPass("10 minutes", deployment)
        #expect(try await !Self.rotate(deployment))
        #expect(try await deployment.query("SELECT count(*) FROM broker.server_secret") == "1")
        try await Self.everyFreshNoncePasses(brokers, "the old one has gone")
        for broker in brokers {
            #expect(
                try await broker.send(Self.proof(try Install(), before)).code == "use_dpop_nonce")
            await broker.stop()
        }
    }

    /// No mint may go on with an old set of secrets: the revision says that there is a newer one.
    @Test func `a replica that mints knows the new secret`() async throws {
        let deployment = try await Self.deployment()
        let broker = try await deployment.start()
        #expect(try await broker.settled(.token(deployment.token)).status == 200)
        // One transaction, so that nobody sees the secret before its minute has passed.
        try await deployment.query(
            """
            UPDATE broker.server_secret SET created_at = created_at - interval '1 day';
            SELECT broker.rotate_nonce_secret();
            UPDATE broker.server_secret SET created_at = created_at - interval '61 seconds'
            """)
        #expect(try await broker.settled(.token(deployment.token)).status == 200)
        let nonce = try await Self.nonce(of: broker, try Install())
        #expect(try await Self.maker(of: nonce, deployment) == 1)
        await broker.stop()
    }

    @Test func `of many replicas that rotate at once one does`() async throws {
        let deployment = try await Self.deployment()
        try await Self.letPass("1 day", deployment)
        let rotated = try await atOnce(12) { _ in try await Self.rotate(deployment) }
        #expect(rotated.count { $0 } == 1)
        #expect(try await deployment.query("SELECT count(*) FROM broker.server_secret") == "2")
    }

    @Test func `within a day nothing rotates, and no revision changes`() async throws {
        let deployment = try await Self.deployment()
        let before = try await deployment.query(
            "SELECT revision, encode(value, 'hex') FROM broker.declaration, broker.server_secret")
        try await deployment.query(
            "UPDATE broker.server_secret SET created_at = now() - interval '86390 seconds'")
        #expect(try await !Self.rotate(deployment))
        let after = try await deployment.query(
            "SELECT revision, encode(value, 'hex') FROM broker.declaration, broker.server_secret")
        #expect(after == before)
    }

    @Test func `a secret from the future puts no rotation off, and goes`() async throws {
        let deployment = try await Self.deployment()
        try await Self.letPass("1 day", deployment)
        try await deployment.query(
            """
            INSERT INTO broker.server_secret VALUES
                ('dpop-nonce', now() + interval '10 years', decode(repeat('00', 32), 'hex'))
            """)
        #expect(try await Self.rotate(deployment))
        #expect(
            try await deployment.query(
                "SELECT count(*), max(created_at) <= now() FROM broker.server_secret") == "2|t")
    }

    @Test func `a database that lost its secret makes another, once`() async throws {
        let deployment = try await Self.deployment()
        try await deployment.query("DELETE FROM broker.server_secret")
        let brokers = try await atOnce(3) { _ in try await deployment.start(lanes: 1) }
        try await Self.everyFreshNoncePasses(brokers, "made anew")
        #expect(try await deployment.query("SELECT count(*) FROM broker.server_secret") == "1")
        for broker in brokers { await broker.stop() }
    }

    @Test func `secrets are 32 octets, never the same, and other secrets are left alone`()
        async throws
    {
        let deployment = try await Self.deployment()
        try await deployment.query(
            "INSERT INTO broker.server_secret VALUES ('other', 'epoch', decode(repeat('01', 16), 'hex'))"
        )
        for _ in 0..<3 {
            try await Self.letPass("1 day", deployment)
            #expect(try await Self.rotate(deployment))
        }
        let rows = try await deployment.query(
            """
            SELECT count(*), count(DISTINCT value), min(octet_length(value)), max(octet_length(value))
            FROM broker.server_secret WHERE name = 'dpop-nonce'
            """)
        // A day after the one before, each older one has long gone.
        #expect(rows == "2|2|32|32")
        #expect(
            try await deployment.query(
                "SELECT count(*) FROM broker.server_secret WHERE name = 'other'") == "1")
    }

    @Test(arguments: ["899", "0", "-1"])
    func `an interval in which nonces could not grow old is refused`(seconds: String) async throws {
        let deployment = try await Self.deployment()
        await #expect(throws: PostgresError.self) {
            try await ControlConnection(conninfo: deployment.url).query(
                "SELECT broker.rotate_nonce_secret(\(seconds))")
        }
    }
}
