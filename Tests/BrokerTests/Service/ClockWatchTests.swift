import JOSE
import TestKit
import Testing

@testable import Broker

@Suite struct ClockWatchTests {
    private func reading(ahead: Int64, trip: Int64 = 0) -> ClockReading {
        ClockReading(
            database: 1_000_000_000, sentAt: 1_000_000_000 + ahead,
            receivedAt: 1_000_000_000 + ahead + trip)
    }

    @Test(arguments: [
        (Int64(0), Int64(0), Int64(0)), (5, 10, 5), (-5, 10, 0), (-15, 10, -5), (-5, 0, -5),
    ])
    func `the round trip counts for neither clock`(ahead: Int64, trip: Int64, seen: Int64) {
        #expect(reading(ahead: ahead, trip: trip).ahead == seen)
    }

    @Test(arguments: [Int64(1_999_999), -1_999_999, 0])
    func `a clock within two seconds is not mentioned`(ahead: Int64) {
        let watch = ClockWatch()
        #expect(watch.observe(reading(ahead: ahead)) == nil)
        #expect(watch.part == .init(name: "clock", fault: nil))
    }

    @Test(arguments: [Int64(2_000_000), -2_000_000, 30_000_000, 30_000_001, -30_000_001])
    func `a clock that is off is mentioned once a minute, and when it is right again`(ahead: Int64)
    {
        let watch = ClockWatch()
        let start = MonotonicTime(nanoseconds: 7)
        let minute = start.adding(microseconds: 60_000_000)
        #expect(watch.observe(reading(ahead: ahead), now: start) == .off(ahead: ahead))
        #expect(watch.observe(reading(ahead: ahead), now: start) == nil)
        #expect(watch.observe(reading(ahead: ahead), now: minute) == .off(ahead: ahead))
        // Mints pass up to 30 seconds, so until then the replica is ready.
        #expect((watch.part.fault != nil) == (abs(ahead) > 30_000_000))
        #expect(watch.part.notice != nil)
        #expect(watch.observe(reading(ahead: 0), now: minute) == .right)
        #expect(watch.observe(reading(ahead: 0), now: minute) == nil)
        #expect(watch.part == .init(name: "clock", fault: nil))
    }

    @Test(.timeLimit(.minutes(3)), arguments: [(Int64(5), 200), (-45, 503)])
    func `a replica whose clock is off says so in its log and readiness`(
        seconds: Int64, status: Int
    ) async throws {
        let deployment = try await Deployment()
        let replica = try await deployment.start(
            clock: WallClock { WallClock.system.microseconds() + seconds * 1_000_000 })
        let report = try await replica.get("/readyz") {
            (try? $0.json()["checks"]?["clock"]?.string) != "ok"
        }
        #expect(report.status == status)
        #expect(report.text.contains("off the database's"))
        let event = try #require(try await replica.log.events("clock.off").first)
        let ahead = try #require(event["ahead_us"]?.integer)
        // Less by what the round trip took.
        #expect(ahead.signum() == seconds.signum() && abs(ahead) <= abs(seconds) * 1_000_000)
        await replica.stop()
    }
}
