import Synchronization
import TestKit
import Testing

@testable import Broker

@Suite struct LeaseBookTests {
    private static func limit(burst: Int, step: Int64) -> SharedLimit {
        SharedLimit(
            scope: .client, subject: "app",
            policy: RatePolicy(name: "client", burst: burst, stepMicroseconds: step))
    }

    @Test(arguments: [
        (10, Int64(6_000_000)), (100, 600_000), (1000, 60_000), (1, 1), (8, 1000), (60, 1_000_000),
    ])
    func `a small or slow limit keeps its whole burst and leases nothing`(burst: Int, step: Int64) {
        let plan = LeasePlan(Self.limit(burst: burst, step: step).policy)
        #expect(plan.databaseBurst == burst)
        #expect(plan.windowMicroseconds == 0)
        #expect(plan.largestLease == 0)
    }

    @Test(arguments: [(1000, Int64(1000)), (10_000, 200), (1_000_000, 10), (500, 5000)])
    func `a fast limit keeps back what returns in one window, an eighth of the burst at most`(
        burst: Int, step: Int64
    ) {
        let plan = LeasePlan(Self.limit(burst: burst, step: step).policy)
        #expect(plan.windowMicroseconds > 0)
        #expect(plan.windowMicroseconds <= LeasePlan.longestWindowMicroseconds)
        #expect(Int64(burst - plan.databaseBurst) * step >= plan.windowMicroseconds)
        #expect(burst - plan.databaseBurst <= burst / 8 + 1)
    }

    @Test func `a lease lapses a window after the batch that took it was sent`() {
        let limit = Self.limit(burst: 1000, step: 1000)
        let plan = LeasePlan(limit.policy)
        var book = LeaseBook()
        let quota = book.quote(limit, demand: 50, now: 0)
        book.settle(quota, held: 20, leased: 20, spent: 50, sentAt: 0)
        #expect(book.quote(limit, demand: 1, now: plan.windowMicroseconds - 1).held == 20)
        #expect(book.quote(limit, demand: 1, now: plan.windowMicroseconds).held == 0)
    }

    @Test func `a lane wishes for no more than it spent lately`() {
        let limit = Self.limit(burst: 1000, step: 1000)
        var book = LeaseBook()
        #expect(book.quote(limit, demand: 1, now: 0).wish == 0)
        book.settle(
            book.quote(limit, demand: 30, now: 0), held: 0, leased: 0, spent: 30, sentAt: 0)
        #expect(book.quote(limit, demand: 5, now: 10).wish == 30)
        #expect(book.quote(limit, demand: 5, now: 10_000_000).wish == 0)
    }

    @Test func `a wish that was not met is not repeated at once`() {
        let limit = Self.limit(burst: 1000, step: 1000)
        var book = LeaseBook()
        book.settle(
            book.quote(limit, demand: 30, now: 0), held: 0, leased: 0, spent: 30, sentAt: 0)
        let quota = book.quote(limit, demand: 5, now: 10)
        book.settle(quota, held: 2, leased: 2, spent: 5, sentAt: 10)
        #expect(book.quote(limit, demand: 5, now: 20).wish == 0)
    }

    @Test func `what an unknown outcome may have spent is gone`() {
        let limit = Self.limit(burst: 1000, step: 1000)
        var book = LeaseBook()
        let quota = book.quote(limit, demand: 50, now: 0)
        book.settle(quota, held: 20, leased: 20, spent: 50, sentAt: 0)
        book.giveUp(book.quote(limit, demand: 5, now: 10))
        #expect(book.quote(limit, demand: 5, now: 11).held == 0)
    }

    /// Several lanes of several replicas on one database, in seeded disorder: batches of any size, answers late or
    /// lost, clocks of lanes and database apart.
    @Test(arguments: 0..<100)
    func `no interleaving of lanes lets through more than the burst and what came back`(
        seed: Int
    ) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let policy = RatePolicy(
            name: "client", burst: Int.random(in: 1...400, using: &random),
            stepMicroseconds: Int64.random(in: 50...3000, using: &random))
        let clock = ModelClock()
        let database = MemoryDatabase { 1_800_000_000_000_000 + clock.now }
        var lanes = (0..<Int.random(in: 1...6, using: &random)).map { _ in
            ModelLane(clockOffset: Int64.random(in: -5_000_000...5_000_000, using: &random))
        }
        var passed: [(time: Int64, count: Int64)] = []
        for _ in 0..<300 {
            clock.now += Int64.random(in: 0...20_000, using: &random)
            let index = Int.random(in: 0..<lanes.count, using: &random)
            if let batch = lanes[index].inFlight {
                // The database decides now; the answer comes, late, or never.
                let answer = try #require(
                    database.decide(batch, brokerNow: 1_800_000_000_000_000 + clock.now))
                let counted = lanes[index].answered(
                    batch, answer, isLost: Int.random(in: 0..<20, using: &random) == 0)
                passed.append((lanes[index].sentAt, counted.fromLease))
                passed.append((clock.now, counted.fromDatabase))
            } else {
                lanes[index].send(
                    count: Int.random(in: 1...40, using: &random), policy, now: clock.now)
            }
        }
        passed.sort { $0.time < $1.time }
        #expect(passed.contains { $0.count > 0 })
        expectNoOverrun(passed, policy)
    }
}

final class ModelClock: Sendable {
    private let time = Atomic<Int64>(0)

    var now: Int64 {
        get { time.load(ordering: .relaxed) }
        set { time.store(newValue, ordering: .relaxed) }
    }
}

/// One lane's side: a book of leases and at most one batch under way.
struct ModelLane {
    let clockOffset: Int64
    private var leases = LeaseBook()
    private(set) var inFlight: MintBatch?
    private(set) var sentAt: Int64 = 0
    private var made = 0

    init(clockOffset: Int64) {
        self.clockOffset = clockOffset
    }

    mutating func send(count: Int, _ policy: RatePolicy, now: Int64, revision: Int64 = 0) {
        let records = (0..<count).map { _ in
            made += 1
            return MintRecord.valid(
                dpopJkt: "jkt", jti: "\(clockOffset)/\(made)", expiresAt: 1_800_000_060,
                client: policy, revision: revision)
        }
        sentAt = now
        inFlight = MintBatch(records, leases: &leases, now: now + clockOffset)
    }

    /// How many passed, by where their permit came from. A lost answer counts too: the database let them through.
    mutating func answered(
        _ batch: MintBatch, _ answer: BatchAnswer, isLost: Bool
    ) -> (fromLease: Int64, fromDatabase: Int64) {
        inFlight = nil
        if isLost {
            batch.giveUp(leases: &leases)
        } else {
            batch.settle(answer, leases: &leases, sentAt: sentAt + clockOffset)
        }
        let recorded = Int64(answer.decisions.count { $0.code == .recorded })
        let fromLease = min(recorded, batch.quotas[0].held)
        return (fromLease, recorded - fromLease)
    }
}
