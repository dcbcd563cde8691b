import Testing

@testable import ClientShim

/// The real flow, session and shim against the real provider and the broker's decisions, in one process, with faults. This is
/// the part for every day; `script/simulate` runs far more of it, optimised, and plants bugs to see that they are found.
@Suite struct SimulationTests {
    private func expectGood(_ outcome: Campaign.Outcome, atLeast count: Int) throws {
        #expect(outcome.errors.isEmpty)
        if let failure = outcome.failures.min(by: { $0.plan.seed < $1.plan.seed }) {
            Issue.record("\(try Simulation.shrunk(failure).story())")
        } else {
            #expect(outcome.count >= count)
        }
    }

    @Test func `the same seed is the same run`() throws {
        for seed: UInt64 in 0..<10 {
            let one = try Simulation.run(RunPlan(seed: seed), traces: true)
            let other = try Simulation.run(RunPlan(seed: seed), traces: true)
            #expect(one.trace == other.trace)
            #expect(one.trace.count > 10)
            #expect(one.injected == other.injected)
        }
    }

    @Test func `without a fault every scene goes well`() throws {
        for report in try Campaign.calm() { Issue.record("\(try report.story())") }
    }

    /// R-000-20 to R-000-25, R-000-29: whichever single message is lost, comes seconds late, or comes twice.
    @Test func `one lost message of a sign-in costs the user nothing`() throws {
        let (count, noticed) = try Campaign.harmless()
        #expect(count > 40)
        for report in noticed { Issue.record("\(try report.story())") }
    }

    @Test(arguments: Scene.all)
    func `one fault at any step of any scene`(_ scene: Scene) async throws {
        try expectGood(try await Campaign.singles(scene, stride: 7), atLeast: 4)
    }

    @Test(arguments: Scene.small)
    func `two faults at any two steps`(_ scene: Scene) async throws {
        // A sign-out has few steps.
        let stride = scene.action == .signOut ? 2 : 13
        try expectGood(try await Campaign.pairs(scene, stride: stride), atLeast: 1)
    }

    @Test func `whatever happens, by seed`() async throws {
        try expectGood(await Campaign.seeds(60, first: 0), atLeast: 60)
    }
}
