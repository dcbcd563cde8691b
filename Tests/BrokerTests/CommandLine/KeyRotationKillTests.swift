import Foundation
import JOSE
import TestKit
import Testing

@testable import Broker

/// `broker key rotate`, killed. What it had done stands in the database and in the key's file; nothing else does.
@Suite struct KeyRotationKillTests {
    /// Where a rotation stands before the run that is killed, and what that run comes to when it is not.
    struct Stage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// States of the old and the new key, and the seconds these have been in them; `nil` without a new one.
        let before: (old: String, new: String?)
        let age: Int
        let after: [String]
        let status: Int32
    }

    static let stages = [
        Stage(
            testDescription: "nothing is done yet", before: ("active", nil), age: 9999,
            after: ["active", "pending"], status: 75),
        Stage(
            testDescription: "the new key is published", before: ("active", "pending"), age: 311,
            after: ["active", "retiring"], status: 75),
        Stage(
            testDescription: "the new key signs", before: ("retiring", "active"), age: 121,
            after: ["active"], status: 0),
    ]

    @Test(.timeLimit(.minutes(10)), arguments: stages)
    func `killed at any answer of the database, it goes on where it was`(stage: Stage) async throws
    {
        let cluster = try await PostgresCluster.shared()
        let killer = try ProcessKiller(before: cluster)
        let deployment = try await Deployment(in: cluster)
        let world = try World(deployment)
        var place = 0
        while true {
            place += 1
            try await world.set(stage)
            killer.arm(at: place)
            let before = killer.killed
            let run = try await world.rotate(through: killer.url(of: deployment.url))
            killer.disarm()
            if killer.killed == before {
                // It had fewer answers than that: every one of them was tried.
                #expect(run.status == stage.status, "\(run.errorText)")
                break
            }
            #expect(run.status == 9)
            #expect(try await world.states().count { $0 == "active" } == 1)
            let again = try await world.rotate(through: deployment.url)
            #expect(again.status == stage.status, "killed at \(place): \(again.errorText)")
            #expect(try await world.states() == stage.after, "killed at \(place)")
            let kid = try PrivateKey.load(uri: "file:\(world.path)").publicJWK.thumbprint
            #expect(
                try await world.kids().contains(kid), "the key in the file is the one that is there"
            )
            #expect(try world.files() == ["app.pem", "new.pem"], "nothing is left lying about")
        }
        #expect(place > 20)
    }

    @Test(.timeLimit(.minutes(5)))
    func `killed while it waits, it goes on where it was, and at last ends by itself`() async throws
    {
        let deployment = try await Deployment()
        let path = deployment.directory.file("new.pem")
        func run(until word: String) async throws {
            let process = try RunningProcess(
                [
                    BrokerProgram.path, "key", "rotate", "app", "--out", path, "--database-url",
                    deployment.url,
                ], environment: BrokerProgram.environment)
            _ = try await process.line { $0.contains(word) }
            process.signal(9)
            #expect(await process.status() == 9)
        }
        try await run(until: "is published")
        // Two seconds are left, which it waits out.
        try await deployment.letPassForKeys(308)
        try await run(until: "signs")
        try await deployment.letPassForKeys(118)
        let last = try await runProcess([
            BrokerProgram.path, "key", "rotate", "app", "--out", path, "--database-url",
            deployment.url,
        ])
        #expect(last.status == 0, "\(last.errorText)")
        #expect(last.outputText.contains("is retired"))
        #expect(last.outputText.contains("alone"))
    }
}

/// A deployment whose rotation can be put back to where it was.
private struct World {
    let deployment: Deployment
    let path: String
    private let connection: ControlConnection
    private let oldKid: String

    init(_ deployment: Deployment) throws {
        self.deployment = deployment
        connection = ControlConnection(conninfo: deployment.url)
        path = deployment.directory.file("new.pem")
        oldKid = try PrivateKey.load(uri: deployment.keyURI).publicJWK.thumbprint
    }

    func rotate(through url: String) async throws -> ProcessResult {
        try await runProcess([
            BrokerProgram.path, "key", "rotate", "app", "--out", path, "--no-wait",
            "--database-url", url,
        ])
    }

    /// Puts keys and file to where the stage begins.
    func set(_ stage: KeyRotationKillTests.Stage) async throws {
        let repository = KeyRepository(connection: connection)
        let client = try Sample.clientId()
        let life = try #require(try await repository.life(of: client))
        var keys = life.stored.map(\.key)
        if !keys.contains(where: { $0.kid == oldKid }) {
            var jwk = try PrivateKey.load(uri: deployment.keyURI).publicJWK
            jwk.kid = oldKid
            keys.append(
                Declaration.Key(
                    kid: oldKid, uri: deployment.keyURI, state: .retiring, publicJWK: jwk))
        }
        if stage.before.new == nil {
            keys.removeAll { $0.kid != oldKid }
            try? FileManager.default.removeItem(atPath: path)
        } else if keys.count < 2 {
            if !FileManager.default.fileExists(atPath: path) {
                _ = try KeyGenerateCommand.generate(.ES256, at: path)
            }
            keys.append(try KeyCommand.open("file:\(path)").declared)
        }
        let declared = try keys.map { key in
            let state = key.kid == oldKid ? stage.before.old : stage.before.new
            return key.inState(try #require(state.flatMap(KeyState.init(rawValue:))))
        }
        try await connection.transaction { session throws(PostgresError) in
            // No key signs for a moment: the table lets one at most.
            try session.query("UPDATE broker.signing_key SET state = 'retiring'")
            try DeclarationRepository.write(declared, of: client, session)
            try session.query(
                """
                UPDATE broker.signing_key SET changed_at = now() - make_interval(secs => $1::integer)
                """, .integer(Int64(stage.age)))
            try session.query("UPDATE broker.client SET changed_at = now() - interval '1 hour'")
        }
    }

    func states() async throws -> [String] { try await column("state") }

    func kids() async throws -> [String] { try await column("kid") }

    func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: deployment.directory.path).sorted()
    }

    private func column(_ name: String) async throws -> [String] {
        try await connection.query(
            "SELECT \(name) FROM broker.signing_key WHERE client_id = 'app' ORDER BY \(name)"
        ).map { try $0.text(name) }
    }
}
