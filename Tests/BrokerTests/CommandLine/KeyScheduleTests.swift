import JOSE
import TestKit
import Testing

@testable import Broker

/// `broker key activate --at`: a key takes over by itself, on the database's clock, on all replicas at once.
@Suite struct KeyScheduleTests {
    @Test(.timeLimit(.minutes(3)))
    func `replicas change over at one instant, and not before it`() async throws {
        let world = try await World()
        let replicas = [
            try await world.deployment.start(),
            // Its own clock has no say in it.
            try await world.deployment.start(
                clock: WallClock { WallClock.system.microseconds() + 20_000_000 }),
        ]
        #expect(try await world.schedule(in: 400).status == 0)
        for replica in replicas {
            #expect(try await world.kid(of: replica) == world.old)
        }
        try await world.deployment.letPassForKeys(390)
        let repository = DirectoryRepository(
            connection: ControlConnection(conninfo: world.deployment.url), keys: SigningKeys())
        let before = try await repository.look().revision
        #expect(try await world.states() == ["active", "pending"])
        try await world.deployment.letPassForKeys(20)
        // Whichever of them finds it due, and all who look at once: one new revision.
        let looks = try await atOnce(16) { _ in
            try await DirectoryRepository(
                connection: ControlConnection(conninfo: world.deployment.url), keys: SigningKeys()
            ).look().revision
        }
        #expect(Set(looks) == [before + 1])
        #expect(try await world.states() == ["active", "retiring"])
        // Nobody had to wait until a replica happened to look: no assertion by the old key leaves from here on.
        for replica in replicas {
            #expect(try await world.kid(of: replica) == world.new)
        }
        for replica in replicas { await replica.stop() }
    }

    @Test(.timeLimit(.minutes(3)))
    func `a replica that nobody asks for anything changes over too`() async throws {
        let world = try await World()
        let replica = try await world.deployment.start()
        #expect(try await world.schedule(in: 400).status == 0)
        try await world.deployment.letPassForKeys(401)
        while try await world.states() != ["active", "retiring"] { await Task.yield() }
        #expect(try await world.kid(of: replica) == world.new)
        await replica.stop()
    }

    @Test func `it shows in the list, is kept by apply, and can be taken back`() async throws {
        let world = try await World()
        #expect(try await world.schedule(in: 400).status == 0)
        let list = try await world.key("list", "app").outputText
        let fields = try #require(
            list.split(separator: "\n").map { $0.split(separator: "\t") }
                .first { $0[1] == world.new })
        #expect(fields[3] == "pending")
        #expect((390...400).contains(try #require(Int(fields[6]))))
        // A change of something else.
        _ = try await world.key("add", "app", "--uri", world.uri("third"))
        #expect(
            try await world.deployment.query(
                "SELECT count(*) FROM broker.signing_key WHERE signs_at > now()") == "1")
        #expect(
            try await world.key("activate", "--at", "never", "app", "--", world.new).status == 0)
        try await world.deployment.letPassForKeys(500)
        #expect(try await !world.key("list", "app").outputText.contains("retiring"))
    }

    @Test func `a moment that would be an outage, has passed or is none is refused`() async throws {
        let world = try await World(age: 100)
        let early = try await world.schedule(in: 100)
        #expect(early.status == 65)
        #expect(early.errorText.contains("s later it is"))
        #expect(try await world.schedule(in: -5).status == 65)
        #expect(
            try await world.key("activate", "--at", "never", "app", "absent").status == 66)
        for moment in ["tomorrow", "2026-12-01T03:00:00", "2026-02-30T03:00:00Z", "", "+5"] {
            #expect(
                try await world.key("activate", "--at", moment, "app", "--", world.new).status
                    == 64,
                "\(moment)")
        }
        #expect(
            try await world.key(
                "activate", "--now", "--at", "never", "app", "--", world.new
            ).status == 64)
    }
}

/// A deployment whose client has a second key, pending for some time.
private struct World {
    let deployment: Deployment
    let old: String
    let new: String

    init(age: Int = 1000) async throws {
        deployment = try await Deployment()
        old = try PrivateKey.load(uri: deployment.keyURI).publicJWK.thumbprint
        let uri =
            "file:"
            + (try deployment.directory.write(
                PrivateKey.generate(.ES256).pkcs8PEM(), to: "new.pem"))
        new = try PrivateKey.load(uri: uri).publicJWK.thumbprint
        #expect(try await key("add", "app", "--uri", uri).status == 0)
        try await deployment.letPassForKeys(age)
    }

    func key(_ words: String...) async throws -> ProcessResult {
        try await runProcess(
            ["env", "DATABASE_URL=\(deployment.url)", BrokerProgram.path, "key"] + words)
    }

    func uri(_ name: String) throws -> String {
        "file:"
            + (try deployment.directory.write(
                PrivateKey.generate(.ES256).pkcs8PEM(), to: name + ".pem"))
    }

    /// Lets the new key take over so many seconds from now, as the database counts.
    func schedule(in seconds: Int) async throws -> ProcessResult {
        let moment = try await deployment.query(
            """
            SELECT to_char(
                (clock_timestamp() + interval '\(seconds) s') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
            """)
        return try await key("activate", "--at", moment, "app", "--", new)
    }

    func states() async throws -> [String] {
        try await deployment.query(
            "SELECT state FROM broker.signing_key WHERE client_id = 'app' ORDER BY state"
        ).split(separator: "\n").map(String.init)
    }

    /// Of an assertion that is minted now.
    func kid(of replica: RunningBroker) async throws -> String {
        let text = try await replica.assertion(deployment)
        let header = try #require(Base64URL.decode(String(text.split(separator: ".")[0])))
        return try #require(try JSONValue(parsing: header)["kid"]?.string)
    }
}
