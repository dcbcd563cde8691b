import TestKit

@testable import ClientShim

/// All that decides a run.
struct RunPlan: Sendable {
    var seed: UInt64
    var actions: [Action]
    var faults: [Step: Fault] = [:]
    /// Chances in a hundred that a step goes wrong besides.
    var percent = 0
    /// What goes wrong with one kind of message most of the time.
    var stubborn: FaultSource.Stubborn?
    var rotates = true
    var faces: [ScriptedFaceEngine.Verdict] = []
    /// Whether the user takes time, and taps twice.
    var isHuman = false

    /// Whether logs are searched for secrets: in every fourth run, since making their texts is dear.
    var readsLogs: Bool {
        let places = faults.keys.reduce(0) { $0 + $1.number }
        return (seed &+ UInt64(places)) % 4 == 1
    }

    init(seed: UInt64, actions: [Action], faults: [Step: Fault] = [:]) {
        self.seed = seed
        self.actions = actions
        self.faults = faults
    }

    /// The run that a number stands for.
    init(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        self.seed = seed
        actions = [.signIn]
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            actions.append(Action.allCases.randomElement(using: &random) ?? .call)
        }
        percent = [0, 2, 5, 10, 20, 35].randomElement(using: &random) ?? 5
        if Int.random(in: 0..<3, using: &random) == 0 {
            let exchanges: [Exchange] = [
                .start, .faceToken, .completion, .token, .refresh, .revocation, .abort, .api,
            ]
            let faults: [Fault] = [
                .unsent, .lostRequest, .lostAnswer, .busy, .busyAfter, .limited, .limitedBare,
                .garbageAfter,
            ]
            if let exchange = exchanges.randomElement(using: &random),
                let fault = faults.randomElement(using: &random)
            {
                stubborn = FaultSource.Stubborn(exchange: exchange, fault: fault)
            }
        }
        rotates = Int.random(in: 0..<3, using: &random) > 0
        let verdicts: [ScriptedFaceEngine.Verdict] = [.notLive, .mismatch, .match, .match]
        isHuman = true
        faces = (0..<Int.random(in: 0...4, using: &random)).compactMap { _ in
            verdicts.randomElement(using: &random)
        }
    }
}

/// What came of a run.
struct RunReport: Sendable {
    let plan: RunPlan
    let violations: [Violation]
    /// Every step and what it was.
    let steps: [(step: Step, kind: StepKind)]
    let injected: [Step: Fault]
    /// What happened, when it was asked for.
    let trace: [String]
    /// How each sign-in went.
    let flows: [[SignInState]]
    /// How long each took, milliseconds; `nil` for one without an end.
    let durations: [Int64?]
    /// How each call of the API ended.
    let results: [String]
}

/// Runs plans.
enum Simulation {
    static func run(_ plan: RunPlan, traces: Bool = false) throws -> RunReport {
        let world = try World(plan, traces: traces)
        let violations = try world.run(plan.actions)
        return RunReport(
            plan: plan, violations: violations, steps: world.faults.steps,
            injected: world.faults.injected, trace: world.traced ?? [],
            flows: world.ledger.flows.map(\.states),
            durations: world.ledger.flows.map(\.duration), results: world.ledger.results)
    }

    /// A smaller plan that breaks the same rule: without actions and faults that it does not need.
    static func shrunk(_ report: RunReport) throws -> RunReport {
        guard let rule = report.violations.first?.rule else { return report }
        var best = report
        best = try report.replayed(report.plan.actions, report.injected) ?? report
        guard best.plan.percent == 0 else { return report }
        var isSmaller = true
        while isSmaller {
            isSmaller = false
            for smaller in candidates(of: best.plan) {
                let tried = try run(smaller)
                guard tried.violations.first?.rule == rule else { continue }
                best = tried
                isSmaller = true
                break
            }
        }
        return best
    }

    private static func candidates(of plan: RunPlan) -> [RunPlan] {
        var candidates: [RunPlan] = []
        for index in plan.actions.indices.reversed() {
            var smaller = plan
            smaller.actions.remove(at: index)
            smaller.faults = [:]
            for (step, fault) in plan.faults where step.action != index {
                let action = step.action > index ? step.action - 1 : step.action
                smaller.faults[Step(action: action, number: step.number)] = fault
            }
            candidates.append(smaller)
        }
        for step in plan.faults.keys.sorted(by: { ($0.action, $0.number) > ($1.action, $1.number) })
        {
            var smaller = plan
            smaller.faults[step] = nil
            candidates.append(smaller)
        }
        if !plan.faces.isEmpty {
            var smaller = plan
            smaller.faces = []
            candidates.append(smaller)
        }
        return candidates
    }
}

extension RunReport {
    /// The same run with its chances written down as a plan; `nil` when that breaks no rule.
    fileprivate func replayed(_ actions: [Action], _ faults: [Step: Fault]) throws -> RunReport? {
        var plan = plan
        plan.actions = actions
        plan.faults = faults
        plan.percent = 0
        plan.stubborn = nil
        let again = try Simulation.run(plan)
        return again.violations.isEmpty ? nil : again
    }

    /// For people: what broke, how to run it again, and what happened.
    func story() throws -> String {
        let faults = plan.faults.sorted {
            ($0.key.action, $0.key.number) < ($1.key.action, $1.key.number)
        }.map { "\($0.key) \($0.value.rawValue)" }
        let again = try Simulation.run(plan, traces: true)
        return
            ([
                "seed \(plan.seed), rotating \(plan.rotates): "
                    + violations.map(\.description).joined(separator: "; "),
                "actions: " + plan.actions.map(\.rawValue).joined(separator: ", "),
                "faults: " + faults.joined(separator: ", "),
            ] + again.trace).joined(separator: "\n")
    }
}
