import TestKit
import Testing

@testable import Broker

/// The pure model of the limits, against Postgres and against what limits promise.
@Suite struct LimitModelTests {
    @Test func `the arithmetic agrees with the database's, over the whole range of policies`()
        async throws
    {
        var random = SeededRandom(seed: 4)
        let now: Int64 = 1_800_000_000_000_000
        let cases = (0..<5000).map { _ -> (RatePolicy, Int64) in
            let policy = RatePolicy(
                name: "p",
                burst: 1 << Int.random(in: 0...19, using: &random)
                    + Int.random(in: 0...9, using: &random),
                stepMicroseconds: min(
                    RatePolicy.maximumStepMicroseconds,
                    1 << Int64.random(in: 0...36, using: &random)
                        + Int64.random(in: 0...9, using: &random)))
            // Around the places where something changes: empty, one permit, full, long ago.
            let whole = Int64(policy.burst) * policy.stepMicroseconds
            let edge = [0, policy.stepMicroseconds, whole - policy.stepMicroseconds, whole, -whole]
            let ahead =
                edge[Int.random(in: 0..<edge.count, using: &random)]
                + Int64.random(in: -2...2, using: &random)
            return (policy, now + ahead)
        }
        let connection = ControlConnection(
            conninfo: try await PostgresCluster.shared().freshDatabase())
        let rows = try await connection.query(
            """
            SELECT broker.permits(burst, step, tat, $4::bigint) AS permits,
                broker.permit_wait(burst, step, tat, $4::bigint) AS wait
            FROM unnest($1::text[]::bigint[], $2::text[]::bigint[], $3::text[]::bigint[])
                WITH ORDINALITY AS c (burst, step, tat, ord) ORDER BY ord
            """,
            .texts(cases.map { "\($0.0.burst)" }), .texts(cases.map { "\($0.0.stepMicroseconds)" }),
            .texts(cases.map { "\($0.1)" }), .integer(now))
        for (row, (policy, tat)) in zip(rows, cases) {
            let limit = RateLimit(policy)
            #expect(try row.integer("permits") == limit.permits(tat: tat, now: now))
            #expect(try row.integer("wait") == limit.wait(tat: tat, now: now))
        }
        #expect(rows.count == cases.count)
    }

    /// Each mint is decided by Postgres and, on the rows as they were before it, by the model.
    @Test(arguments: LimitScope.allCases)
    func `decides as the statement does, with the same wait`(tightest: LimitScope) async throws {
        var random = SeededRandom(seed: UInt64(tightest.rawValue.utf8.count))
        let world = try await World()
        func policy(_ scope: LimitScope, _ step: Int64) -> RatePolicy {
            let isTightest = scope == tightest
            return RatePolicy(
                name: scope.rawValue, burst: isTightest ? 2 : 4,
                stepMicroseconds: isTightest ? 40_000_000 : step)
        }
        let policies = (
            install: policy(.install, 20_000_000), client: policy(.client, 12_000_000),
            tenant: policy(.tenant, 9_000_000)
        )
        let installs = [MintRecord.randomJkt(), MintRecord.randomJkt(), MintRecord.randomJkt()]
        var seen: Set<String> = []
        for _ in 0..<80 {
            try await world.letPass(Int64.random(in: 0...12_000_000, using: &random))
            let jkt = installs[Int.random(in: 0..<3, using: &random)]
            let client = Int.random(in: 0..<2, using: &random)
            let rows = try await world.rows()
            let before = try await world.now()
            let verdict = await world.lane.record(
                .valid(
                    clientId: "app\(client)", dpopJkt: jkt, install: policies.install,
                    client: policies.client, tenant: policies.tenant))
            let after = try await world.now()
            func decided(at now: Int64) -> LimitModel<String>.Decision {
                var model = LimitModel(
                    installs: rows.installs, clients: rows.clients, tenants: rows.tenants)
                return model.decide(
                    .init(
                        install: "app\(client) \(jkt)", installPolicy: policies.install,
                        client: client,
                        clientPolicy: policies.client, tenant: 0, tenantPolicy: policies.tenant),
                    now: now)
            }
            // The database decided between the two moments.
            let (early, late) = (decided(at: before), decided(at: after))
            switch verdict {
            case .recorded:
                #expect(late == .passed)
                seen.insert("passed")
            case .limited(let policy, let wait):
                guard case .refused(let scope, let longest) = early else {
                    Issue.record("refused by \(policy.name), and the model lets it in")
                    continue
                }
                #expect(policy.name == scope.rawValue)
                #expect(wait <= longest && wait >= longest - (after - before))
                seen.insert(policy.name)
            default: Issue.record("\(verdict)")
            }
        }
        #expect(seen.isSuperset(of: ["passed", tightest.rawValue]))
    }

    /// What passes of one install, one client and one tenant, at moments of any distance.
    @Test(arguments: 0..<60)
    func `no interval of any length sees more than the burst and what came back in it`(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        func policy(_ name: String, _ burst: ClosedRange<Int>) -> RatePolicy {
            RatePolicy(
                name: name, burst: Int.random(in: burst, using: &random),
                stepMicroseconds: Int64.random(in: 20_000...900_000, using: &random))
        }
        let policies = [
            LimitScope.install: policy("install", 1...6), .client: policy("client", 2...20),
            .tenant: policy("tenant", 2...40),
        ]
        var model = LimitModel<Int>()
        var passed: [String: [(time: Int64, count: Int64)]] = [:]
        var now: Int64 = 0
        for _ in 0..<600 {
            now += Int64.random(in: 0...120_000, using: &random)
            let client = Int.random(in: 0..<2, using: &random)
            let install = client * 10 + Int.random(in: 0..<3, using: &random)
            let request = LimitModel.Request(
                install: install, installPolicy: policies[.install] ?? .ample, client: client,
                clientPolicy: policies[.client], tenant: 0, tenantPolicy: policies[.tenant])
            switch model.decide(request, now: now) {
            case .passed:
                for key in ["install \(install)", "client \(client)", "tenant 0"] {
                    passed[key, default: []].append((now, 1))
                }
            case .refused(_, let wait):
                // Exact: with nobody else about it is let in then, and not before.
                var (then, early) = (model, model)
                #expect(then.decide(request, now: now + wait) == .passed)
                #expect(early.decide(request, now: now + wait - 1) != .passed)
            }
        }
        for (key, moments) in passed {
            let scope = LimitScope(rawValue: String(key.prefix { $0 != " " }))
            if let policy = scope.flatMap({ policies[$0] }) { expectNoOverrun(moments, policy) }
        }
    }

    @Test func `holds no more than the installs that a limit stands against`() {
        var model = LimitModel<Int>()
        let policy = RatePolicy(name: "install", burst: 30, stepMicroseconds: 2_000_000)
        var most = 0
        for number in 0..<1_000_000 {
            // A thousand new installs a second: each is full again after two.
            _ = model.decide(
                .init(
                    install: number, installPolicy: policy, client: 0, clientPolicy: nil, tenant: 0,
                    tenantPolicy: nil), now: Int64(number) * 1000)
            most = max(most, model.installCount)
        }
        #expect(most <= 65_536)
    }
}

/// A database with one lane, whose time a test lets go by.
private struct World {
    let lane: TestLane
    let connection: ControlConnection

    init() async throws {
        let url = try await PostgresCluster.shared().freshDatabase()
        lane = TestLane(postgres: url) { $0.waitingLimit = 20_000 }
        connection = ControlConnection(conninfo: url)
    }

    func now() async throws -> Int64 {
        try await connection.query(
            "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now")[0].integer(
                "now")
    }

    /// When each limit is full again.
    func rows() async throws -> (
        installs: [String: Int64], clients: [Int: Int64], tenants: [Int: Int64]
    ) {
        var installs: [String: Int64] = [:]
        for row in try await connection.query(
            "SELECT client_id, dpop_jkt, tat FROM broker.install_rate")
        {
            installs["\(try row.text("client_id")) \(try row.text("dpop_jkt"))"] = try row.integer(
                "tat")
        }
        var shared: [String: [Int: Int64]] = [:]
        for row in try await connection.query("SELECT scope, subject, tat FROM broker.shared_rate")
        {
            let number = Int(String(try row.text("subject").suffix(1))) ?? 0
            shared[try row.text("scope"), default: [:]][number] = try row.integer("tat")
        }
        return (installs, shared["client"] ?? [:], shared["tenant"] ?? [:])
    }

    /// Moves all that is stored into the past.
    func letPass(_ microseconds: Int64) async throws {
        for table in ["install_rate", "shared_rate"] {
            _ = try await connection.query(
                "UPDATE broker.\(table) SET tat = tat - $1::bigint, seen_at = seen_at - $1::bigint",
                .integer(microseconds))
        }
    }
}
