@testable import ClientShim

/// Something that happens after a good beginning, for trying every fault at each of its steps.
struct Scene: Sendable, CustomStringConvertible {
    /// What happens first, without a fault.
    let before: [Action]
    let action: Action

    static let all = [
        Scene(before: [], action: .signIn),
        Scene(before: [.signIn], action: .callsNearEnd),
        Scene(before: [.signIn], action: .callsAfterEnd),
        Scene(before: [.signIn], action: .signOut),
        Scene(before: [.signIn], action: .refresh),
        Scene(before: [.signIn], action: .signIn),
        Scene(before: [.signIn], action: .signOutDuringCalls),
        Scene(before: [.signIn], action: .signInDuringCalls),
        Scene(before: [.signIn], action: .twoProcesses),
        Scene(before: [], action: .signInTwice),
    ]

    /// Those that are tried with two faults too.
    static let small = [all[0], all[1], all[3], all[4]]

    var description: String { (before + [action]).map(\.rawValue).joined(separator: " ") }

    /// The run without a fault.
    var plan: RunPlan { RunPlan(seed: 1, actions: before + [action]) }

    /// Every run with one fault more than `report`, after the last fault it has.
    func next(after report: RunReport) -> [RunPlan] {
        let last = report.plan.faults.keys.map(\.number).max() ?? -1
        return report.steps.filter { $0.step.action == before.count && $0.step.number > last }
            .flatMap { step, kind in
                Fault.possible(at: kind).map { fault in
                    var plan = report.plan
                    plan.faults[step] = fault
                    return plan
                }
            }
    }
}
