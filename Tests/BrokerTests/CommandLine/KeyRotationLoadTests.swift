import JOSE
import Synchronization
import TestKit
import Testing

@testable import Broker

/// Rotations while two replicas mint, and a provider that keeps key sets checks every assertion.
@Suite struct KeyRotationLoadTests {
    @Test(.timeLimit(.minutes(5)))
    func
        `a rotation under load over two replicas: no assertion is refused by a provider that caches`()
        async throws
    {
        let world = try await World()
        try await world.whileMinting {
            try await world.pass(60)
            var runs = 0
            while true {
                let run = try await world.key(
                    "rotate", "app", "--out", world.deployment.directory.file("new.pem"),
                    "--no-wait")
                runs += 1
                if run.status == 0 { break }
                try #require(run.status == 75, "\(run.errorText)")
                let words = run.errorText.split(whereSeparator: \.isWhitespace)
                let wait = try #require(words.first.flatMap { Int($0) }, "\(run.errorText)")
                try await world.pass(wait)
            }
            #expect(runs == 3)
            // Until every provider has fetched a set without the old key.
            try await world.pass(330)
        }
        try await world.judge()
    }

    @Test(.timeLimit(.minutes(5)))
    func `a key that takes over by itself under load: no assertion is refused either`() async throws
    {
        let world = try await World()
        try await world.whileMinting {
            let new = world.deployment.directory.file("new.pem")
            _ = try await world.key("generate", "--alg", "ES256", "--out", new)
            let kids = (
                old: try PrivateKey.load(uri: world.deployment.keyURI).publicJWK.thumbprint,
                new: try PrivateKey.load(uri: "file:\(new)").publicJWK.thumbprint
            )
            try #require(try await world.key("add", "app", "--uri", "file:\(new)").status == 0)
            let moment = try await world.deployment.query(
                """
                SELECT to_char((clock_timestamp() + interval '320 s') AT TIME ZONE 'UTC',
                    'YYYY-MM-DD"T"HH24:MI:SS"Z"')
                """)
            let scheduled = try await world.key(
                "activate", "--at", moment, "app", "--", kids.new)
            try #require(scheduled.status == 0, "\(scheduled.errorText)")
            try await world.pass(330)
            // No command has a hand in it: a replica finds the key due within a second.
            while try await world.deployment.query(
                "SELECT state FROM broker.signing_key WHERE kid = '\(kids.new)'") != "active"
            { try Task.checkCancellation() }
            try await world.pass(130)
            try #require(try await world.key("retire", "app", "--", kids.old).status == 0)
            try await world.pass(330)
        }
        try await world.judge()
    }
}

/// Two replicas, a provider, and how much was minted.
private final class World: Sendable {
    let deployment: Deployment
    private let replicas: [RunningBroker]
    private let provider: CachingProvider
    private let minted = Mutex(0)
    private let isOver = Mutex(false)
    private let kids = Mutex<Set<String>>([])

    init() async throws {
        deployment = try await Deployment()
        replicas = [try await deployment.start(), try await deployment.start()]
        provider = try await CachingProvider(replicas: replicas)
    }

    func key(_ words: String...) async throws -> ProcessResult {
        try await runProcess(
            ["env", "DATABASE_URL=\(deployment.url)", BrokerProgram.path, "key"] + words)
    }

    /// Runs `body` while every verifier is shown assertions of both replicas.
    func whileMinting(_ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for verifier in 0..<CachingProvider.verifiers {
                group.addTask { try await self.mint(for: verifier) }
            }
            defer { isOver.withLock { $0 = true } }
            try await body()
            isOver.withLock { $0 = true }
            try await group.waitForAll()
        }
    }

    private func mint(for verifier: Int) async throws {
        var round = 0
        while !isOver.withLock({ $0 }), !Task.isCancelled {
            round += 1
            let response = try await replicas[round % 2].settled(.token(deployment.token))
            let text = try #require(
                try response.json()["client_assertion"]?.string, "\(response.text)")
            let kid = try await provider.check(text, by: verifier)
            kids.withLock { _ = $0.insert(kid) }
            minted.withLock { $0 += 1 }
        }
    }

    /// Waits until so many more were minted.
    private func work(_ count: Int) async throws {
        let seen = minted.withLock { $0 }
        while minted.withLock({ $0 }) < seen + count {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Lets time pass in slices, in each of which everybody is at work: for the keys in the database and the sets of the provider.
    func pass(_ seconds: Int) async throws {
        // Replicas learn of a change with a mint or within a second: before a slice of time has passed.
        try await work(40)
        for slice in stride(from: 0, to: seconds, by: 30) {
            let step = min(30, seconds - slice)
            try await deployment.letPassForKeys(step)
            provider.letPass(Int64(step))
            try await work(16)
        }
    }

    func judge() async throws {
        #expect(provider.refusals == [])
        #expect(kids.withLock { $0.count } == 2)
        #expect(try await provider.fetches().allSatisfy { $0 >= 3 })
        for replica in replicas { await replica.stop() }
    }
}
