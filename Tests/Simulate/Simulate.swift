import Foundation

/// The program behind `script/simulate`: `all SEEDS FIRST MINUTES` (0 for no limit), `quick SEEDS FIRST` (without pairs of
/// faults), `seeds SEEDS FIRST` (these alone) or `replay SEED`.
@main
enum Simulate {
    static func main() async {
        let words = CommandLine.arguments.dropFirst()
        let numbers = words.dropFirst().compactMap { Int($0) }
        do {
            switch (words.first, numbers.count) {
            case ("all", 3):
                let end = Deadline.now + .seconds(60 * numbers[2])
                try await all(
                    seeds: numbers[0], first: numbers[1], pairs: true,
                    until: numbers[2] == 0 ? nil : end)
            case ("quick", 2):
                try await all(seeds: numbers[0], first: numbers[1], pairs: false, until: nil)
            case ("seeds", 2):
                try judge(
                    "seeds from \(numbers[1])",
                    await Campaign.seeds(numbers[0], first: numbers[1]))
            case ("replay", 1): try replay(UInt64(numbers[0]))
            default:
                fail(
                    "usage: simulate all SEEDS FIRST MINUTES, quick|seeds SEEDS FIRST, or replay SEED",
                    status: 2)
            }
        } catch {
            fail("cannot run: \(error)")
        }
    }

    private static func all(
        seeds: Int, first: Int, pairs: Bool, until end: Deadline?
    ) async throws {
        if let bad = try Campaign.calm().first { fail("without any fault:\n" + (try bad.story())) }
        let (count, noticed) = try Campaign.harmless()
        if let bad = noticed.first {
            fail("one lost message is noticed by the user:\n" + (try bad.story()))
        }
        report("one harmless fault in a sign-in: \(count) runs, the user notices none")
        if !pairs {
            // Most bugs show here soonest.
            try judge("seeds from \(first)", await Campaign.seeds(seeds, first: first))
        }
        for scene in Scene.all {
            try judge("one fault, \(scene)", try await Campaign.singles(scene, until: end))
        }
        guard pairs else { return }
        for scene in Scene.small {
            try judge("two faults, \(scene)", try await Campaign.pairs(scene, until: end))
        }
        try judge("seeds from \(first)", await Campaign.seeds(seeds, first: first, until: end))
    }

    private static func judge(_ name: String, _ outcome: Campaign.Outcome) throws {
        if let error = outcome.errors.first { fail("\(name): cannot run: \(error)") }
        if let failure = outcome.failures.min(by: { $0.plan.seed < $1.plan.seed }) {
            fail("\(name):\n" + (try Simulation.shrunk(failure).story()))
        }
        let rest = outcome.isCutShort ? ", then the time was over" : ""
        report("\(name): \(outcome.count) runs, nothing found\(rest)")
    }

    /// Whole lines at once, also into a file: some parts take minutes.
    private static func report(_ line: String) {
        print(line)
        fflush(nil)
    }

    private static func replay(_ seed: UInt64) throws {
        let report = try Simulation.run(RunPlan(seed: seed))
        guard !report.violations.isEmpty else {
            print(try report.story())
            return
        }
        fail(try Simulation.shrunk(report).story())
    }

    private static func fail(_ text: String, status: Int32 = 1) -> Never {
        report(text)
        exit(status)
    }
}
