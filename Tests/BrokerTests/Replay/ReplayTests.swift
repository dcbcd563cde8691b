import JOSE
import TestKit
import Testing

@testable import Broker

/// `broker limits replay`, against an outside judge.
@Suite struct ReplayTests {
    /// A past day, invented: who asked when, and how it ended under other limits.
    struct Past: Sendable {
        var mints: [(at: Int64, client: Int, install: Int)] = []
        let policies: [String: (burst: Int64, per: Int64)]

        init(seed: Int) {
            var random = SeededRandom(seed: UInt64(seed))
            policies = [
                "install": (Int64.random(in: 1...4, using: &random), 10),
                "client": (Int64.random(in: 2...12, using: &random), 4),
                "tenant": (Int64.random(in: 2...20, using: &random), 2),
            ]
            var at: Int64 = 1_772_323_199_000_000
            for _ in 0..<400 {
                at +=
                    Int64.random(in: 0...2, using: &random) == 0
                    ? 0 : Int64.random(in: 1...3_000_000, using: &random)
                mints.append(
                    (
                        at, Int.random(in: 0..<2, using: &random),
                        Int.random(in: 0..<5, using: &random)
                    ))
            }
        }

        /// The file for `--policy`: one tenant, two clients, one permit back every `per` seconds.
        var policy: String {
            func limit(_ name: String) -> String {
                let (burst, per) = policies[name] ?? (1, 1)
                return "\(name): {burst: \(burst), rate: 1, per: \(per)}"
            }
            let client = "{limits: {\(limit("install")), \(limit("client"))}}"
            return
                "{tenants: {acme: {limits: {\(limit("tenant"))}, clients: {app0: \(client), app1: \(client)}}}}"
        }

        /// What token buckets decide.
        func judged() async throws -> [String?] {
            let question = LogSample.line { json in
                json.name("policies")
                json.object { json in
                    for (name, policy) in policies {
                        json.name(name)
                        json.array {
                            $0.integer(policy.burst)
                            $0.integer(policy.per * 1_000_000)
                        }
                    }
                }
                json.name("mints")
                json.array { json in
                    for mint in mints {
                        json.array {
                            $0.integer(mint.at)
                            $0.integer(0)
                            $0.integer(mint.client)
                            $0.integer(mint.install)
                        }
                    }
                }
            }
            let answer = try await Oracle.ask("token_buckets.py", [question])
            return try #require(answer[0]["refused"]?.array).map(\.string)
        }

        func lines(_ outcomes: [String?]) -> [String] {
            zip(mints, outcomes).map { mint, refusedBy in
                LogSample.mint(
                    at: mint.at, client: "app\(mint.client)", jkt: LogSample.jkt(mint.install),
                    refusedBy: refusedBy)
            }
        }
    }

    private func report(
        _ logs: [[String]], _ policy: String, window: Int = ReplaySource.usualWindow
    ) throws -> ReplayReport {
        let directory = try TemporaryDirectory()
        let paths = try logs.enumerated().map { number, lines in
            try directory.write(
                Array(lines.map { $0 + "\n" }.joined().utf8), to: "log\(number)")
        }
        let policy = try ReplayPolicy(Array(policy.utf8))
        return ReplayReport(
            replay: try Replay(paths, policy: policy, window: window), policy: policy)
    }

    @Test(arguments: 0..<20)
    func `refuses what token buckets refuse, by the same limit`(seed: Int) async throws {
        let past = Past(seed: seed)
        let judged = try await past.judged()
        let changes = try report([past.lines(judged.map { _ in nil })], past.policy).replay.changes
        for scope in LimitScope.allCases {
            let policy = changes.policies[scope] ?? .init()
            #expect(policy.now == judged.count { $0 == scope.rawValue })
            #expect(policy.more == policy.now)
            #expect(policy.then == 0 && policy.fewer == 0)
            let first = judged.firstIndex(of: scope.rawValue).map { past.mints[$0].at }
            #expect(policy.firstMore == first)
        }
        #expect(changes.installs.values.reduce(0) { $0 + $1.more } == judged.count { $0 != nil })
    }

    @Test(arguments: 0..<20)
    func `a log under the limits it was made by shows no change`(seed: Int) async throws {
        let past = Past(seed: seed)
        let judged = try await past.judged()
        let changes = try report([past.lines(judged)], past.policy).replay.changes
        for scope in LimitScope.allCases {
            let policy = changes.policies[scope] ?? .init()
            let count = judged.count { $0 == scope.rawValue }
            #expect(policy == ReplayChanges.Policy(then: count, now: count))
        }
        #expect(changes.installs.isEmpty)
    }

    @Test func `what ample limits let in is told as fewer, by the limit that refused then`()
        async throws
    {
        let past = Past(seed: 3)
        let judged = try await past.judged()
        let ample =
            "{install: {burst: 1000000, rate: 1, per: 1}, client: {burst: 1000000, rate: 1, per: 1}}"
        let changes = try report(
            [past.lines(judged)],
            "{tenants: {acme: {clients: {app0: {limits: \(ample)}, app1: {limits: \(ample)}}}}}"
        ).replay.changes
        for scope in LimitScope.allCases {
            let policy = changes.policies[scope] ?? .init()
            let places = judged.indices.filter { judged[$0] == scope.rawValue }
            #expect(policy.fewer == places.count)
            #expect(policy.now == 0 && policy.more == 0)
            #expect(policy.firstFewer == places.first.map { past.mints[$0].at })
        }
    }

    @Test(arguments: 0..<20)
    func `any split over files and any disorder within a window gives the same report`(seed: Int)
        async throws
    {
        // No two at one moment: their order would be open.
        var past = Past(seed: seed)
        for index in past.mints.indices { past.mints[index].at += Int64(index) }
        let lines = past.lines(try await past.judged().map { _ in nil })
        let whole = try report([lines], past.policy)
        var random = SeededRandom(seed: UInt64(seed))
        var logs = [[String]](repeating: [], count: 3)
        for line in lines { logs[Int.random(in: 0..<3, using: &random)].append(line) }
        for index in logs.indices {
            // Each block of ten is disordered in itself.
            logs[index] = stride(from: 0, to: logs[index].count, by: 10).flatMap { start in
                logs[index][start..<min(start + 10, logs[index].count)].shuffled(using: &random)
            }
        }
        let split = try report(logs, past.policy, window: 32)
        #expect(split.json == whole.json)
    }

    @Test func `mints beyond the window are left out and counted, never decided out of order`()
        async throws
    {
        let past = Past(seed: 1)
        let lines = past.lines(past.mints.map { _ in nil })
        let report = try report([Array(lines.reversed())], past.policy, window: 8)
        #expect(report.replay.late > 300)
        #expect(report.replay.changes.mints + report.replay.late == lines.count)
        #expect(report.notes.contains { $0.contains("\(report.replay.late) mints came too late") })
    }

    @Test func `lines that are not the broker's are counted, named, and spoil nothing`() throws {
        let good = (0..<5).map { LogSample.mint(at: 1_772_323_199_000_000 + Int64($0)) }
        let overlong = "{\"event\":\"" + String(repeating: "x", count: 200_000) + "\"}"
        let log = [good[0], "", good[1], "{", overlong, good[2], "\u{0}", good[3], good[4]]
        let report = try report([log], "{tenants: {acme: {clients: {app: {}}}}}")
        #expect(report.replay.changes.mints == 5)
        #expect(report.replay.lines.corrupt == 4)
        #expect(report.replay.lines.faults.map(\.line) == [2, 4, 5, 7])
        #expect(report.replay.lines.faults[2].reason == "longer than 65536 octets")
        let many = try self.report(
            [Array(repeating: "x", count: 50)], "{tenants: {acme: {clients: {}}}}")
        #expect(many.replay.lines.corrupt == 50)
        #expect(many.notes.last == "and 30 more")
        #expect(many.text == ["no mint to replay"])
    }

    @Test func `mints of clients that the policy does not name are left out and named`() throws {
        let lines = ["web", "app", "web"].map {
            LogSample.mint(at: 1_772_323_199_000_000, client: $0)
        }
        let report = try report([lines], "{tenants: {acme: {clients: {app: {}}}}}")
        #expect(report.replay.changes.mints == 1)
        #expect(report.notes == ["2 mints are of clients that the policy does not name: web"])
    }

    @Test func `the installs most affected come first`() throws {
        let lines = (0..<60).map { number in
            LogSample.mint(
                at: 1_772_323_199_000_000 + Int64(number),
                jkt: LogSample.jkt(number % 3 == 0 ? 1 : 2))
        }
        let report = try report(
            [lines],
            "{tenants: {acme: {clients: {app: {limits: {install: {burst: 1, rate: 1, per: 86400}}}}}}}"
        )
        let installs = report.text.filter { $0.hasPrefix("install ") }
        #expect(installs.count == 2)
        #expect(installs[0].hasPrefix("install \(LogSample.jkt(2)) of app: 39 more, 0 fewer"))
        #expect(installs[1].hasPrefix("install \(LogSample.jkt(1)) of app: 19 more, 0 fewer"))
    }
}
