import Synchronization
import Testing

@testable import Broker

@Suite struct ReadinessTests {
    private final class World: Sendable {
        private let state = Mutex((now: Int64(0), probes: 0))
        var clock: WallClock { WallClock { self.state.withLock { $0.now } } }
        var probes: Int { state.withLock { $0.probes } }
        func set(_ now: Int64) { state.withLock { $0.now = now } }
        func probe() -> ReadinessReport {
            let number = state.withLock { state in
                state.probes += 1
                return state.probes
            }
            return ReadinessReport(parts: [.init(name: "probe", fault: "\(number)")])
        }
    }

    private func report(_ readiness: Readiness) async -> String? {
        await withCheckedContinuation { continuation in
            readiness.report { continuation.resume(returning: $0.parts.first?.fault) }
        }
    }

    @Test func `a result is used for a second, then found anew`() async {
        let world = World()
        let readiness = Readiness(clock: world.clock) { world.probe() }
        #expect(await report(readiness) == "1")
        world.set(999_999)
        #expect(await report(readiness) == "1")
        world.set(1_000_000)
        #expect(await report(readiness) == "2")
        world.set(0)
        #expect(await report(readiness) == "3", "a clock that was set back makes no result last")
    }

    @Test func `a thousand who ask at once share one probe`() async {
        let world = World()
        let gate = Gatekeeper()
        let readiness = Readiness(clock: world.clock) {
            await gate.wait()
            return world.probe()
        }
        let answers = Mutex<[String?]>([])
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            let once = Mutex(Optional(done))
            for _ in 0..<1000 {
                readiness.report { report in
                    let count = answers.withLock {
                        $0.append(report.parts.first?.fault)
                        return $0.count
                    }
                    if count == 1000 { once.withLock { $0.take() }?.resume() }
                }
            }
            Task { await gate.open() }
        }
        #expect(world.probes == 1)
        #expect(answers.withLock { $0.allSatisfy { $0 == "1" } })
    }
}
