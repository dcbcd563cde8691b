@testable import ClientShim

/// Sets of runs: what the tests and `script/simulate` have in common.
enum Campaign {
    struct Outcome: Sendable {
        var count = 0
        var failures: [RunReport] = []
        var errors: [String] = []
        /// Whether the time was over before all had run.
        var isCutShort = false
    }

    /// Every scene without a fault, and cancelling at every state, in several orders; all must end well.
    static func calm() throws -> [RunReport] {
        let scenes = try Scene.all.map { try Simulation.run($0.plan) }.filter { report in
            let isGood = report.flows.allSatisfy { $0.session != nil }
            return !report.violations.isEmpty || !isGood
        }
        let cancels = try (0..<40).map { seed in
            try Simulation.run(
                RunPlan(
                    seed: seed, actions: [.cancelSignIn, .abandonSignIn, .cancelSignIn, .signOut]))
        }
        return scenes + cancels.filter { !$0.violations.isEmpty }
    }

    /// One lost, slow or doubled message anywhere in a sign-in. Those that the user would notice.
    static func harmless() throws -> (count: Int, noticed: [RunReport]) {
        let scene = Scene.all[0]
        let plans = scene.next(after: try Simulation.run(scene.plan)).filter { plan in
            plan.faults.values.allSatisfy(Fault.harmless.contains)
        }
        let noticed = try plans.map { try Simulation.run($0) }.filter { report in
            let first = report.flows.first ?? []
            // One read timeout and the way through; nothing of what the user did is waited for again.
            guard let duration = report.durations.first ?? nil, duration < 33_000 else {
                return true
            }
            return first.session == nil || !first.parked.isEmpty || !report.violations.isEmpty
        }
        return (plans.count, noticed)
    }

    /// One fault at any step of a scene.
    ///
    /// - Parameter stride: 1 for all of them, n for every n-th.
    static func singles(
        _ scene: Scene, stride: Int = 1, until end: Deadline? = nil
    ) async throws -> Outcome {
        let plans = scene.next(after: try Simulation.run(scene.plan))
        return await Workers.run(
            plans.enumerated().filter { $0.offset % stride == 0 }.map(\.element), until: end)
    }

    /// Two faults at any two steps of a scene.
    ///
    /// - Parameter stride: 1 for all of them, n for every n-th of the first and every n-th of the second.
    static func pairs(
        _ scene: Scene, stride: Int = 1, until end: Deadline? = nil
    ) async throws -> Outcome {
        var plans: [RunPlan] = []
        for (first, plan) in scene.next(after: try Simulation.run(scene.plan)).enumerated()
        where first % stride == 0 {
            for (second, pair) in scene.next(after: try Simulation.run(plan)).enumerated()
            where second % stride == 0 {
                plans.append(pair)
            }
        }
        return await Workers.run(plans, until: end)
    }

    /// Whatever happens, by seed.
    static func seeds(_ count: Int, first: Int, until end: Deadline? = nil) async -> Outcome {
        await Workers.run(count: count, until: end) { RunPlan(seed: UInt64(first + $0)) }
    }
}

extension [SignInState] {
    /// The session it ended with.
    var session: TokenSession? {
        if case .signedIn(let session, _) = last { session } else { nil }
    }

    /// Where the proof could not be delivered.
    var parked: [PostFailure] {
        compactMap { if case .postingResultFailed(let reason, _) = $0 { reason } else { nil } }
    }
}
