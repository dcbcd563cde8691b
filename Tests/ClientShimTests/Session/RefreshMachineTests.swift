import TestKit
import Testing

@testable import ClientShim

@Suite struct RefreshMachineTests {
    @Test func `the first caller runs, the others wait, all are served`() {
        var machine = RefreshMachine()
        #expect(machine.handle(.arrived(1)) == [.run])
        #expect(machine.handle(.arrived(2)).isEmpty)
        #expect(machine.handle(.left(1)) == [.dismiss(1)])
        #expect(machine.handle(.left(1)).isEmpty)
        #expect(machine.handle(.finished) == [.deliver([2])])
        #expect(machine.state == .idle)
        #expect(machine.handle(.finished).isEmpty)
        #expect(machine.handle(.arrived(3)) == [.run])
    }

    @Test(arguments: 0..<100)
    func `never two at once, and every caller is answered exactly once`(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var machine = RefreshMachine()
        var (isRunning, next) = (false, 0)
        var answered: [Int: Int] = [:]
        for step in 0..<200 {
            let event: RefreshMachine.Event =
                switch Int.random(in: 0..<4, using: &random) {
                case 0: .finished
                case 1 where next > 0: .left(Int.random(in: 0..<next, using: &random))
                default: .arrived(next)
                }
            if case .arrived = event { next += 1 }
            let last =
                step == 199
                ? machine.handle(event) + machine.handle(.finished) : machine.handle(event)
            for effect in last {
                switch effect {
                case .run:
                    #expect(!isRunning)
                    isRunning = true
                case .deliver(let ids):
                    isRunning = false
                    for id in ids { answered[id, default: 0] += 1 }
                case .dismiss(let id): answered[id, default: 0] += 1
                }
            }
        }
        #expect(answered.count == next)
        #expect(answered.values.allSatisfy { $0 == 1 })
    }

    @Test func `the diagram draws exactly the transitions of the code`() throws {
        func name(_ state: RefreshMachine.State) -> String {
            switch state {
            case .idle: "idle"
            case .running: "running"
            }
        }
        let events: [RefreshMachine.Event] = [
            .arrived(1), .arrived(2), .left(1), .left(2), .finished,
        ]
        var machines = [RefreshMachine()]
        var transitions: Set<String> = []
        var next = 0
        // Callers have numbers of their own, so a few steps show every transition.
        while next < machines.count, machines.count < 50 {
            for event in events {
                var machine = machines[next]
                _ = machine.handle(event)
                guard machine != machines[next] else { continue }
                transitions.insert("\(name(machines[next].state)) --> \(name(machine.state))")
                if !machines.contains(machine) { machines.append(machine) }
            }
            next += 1
        }
        #expect(try Diagram.transitions("refresh.md") == transitions)
    }
}
