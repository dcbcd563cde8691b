@testable import SocketServer

/// Carries messages between the app, the provider and the broker, and does to them what the faults say.
///
/// Sendable: touched on the run's thread only.
final class Network: @unchecked Sendable {
    private unowned let world: World
    private let handles = Handles()
    private var timeline: Timeline { world.timeline }

    /// Until when the provider is away, milliseconds since 1970.
    private var providerReturns: Int64 = 0
    private static let outage: Int64 = 60_000

    /// Milliseconds after which the device gives a silent peer up (R-100-23).
    private static let readTimeout: Int64 = 30_000

    init(world: World) { self.world = world }

    /// Sends a request of the app's; `done` is called once, with the process still alive or at its death.
    func send(
        _ request: WireRequest, from process: AppProcess,
        _ done: @escaping @Sendable (WireOutcome) -> Void
    ) {
        let form = request.form
        let exchange = Exchange(request, form)
        let fault = world.faults.next(.exchange(exchange))
        world.trace("→ \(exchange.rawValue)", fault)
        if fault == .crashBefore {
            process.die()
            return done(.unsent)
        }
        world.ledger.sent(request, exchange, form, by: process)
        jump(fault)
        if fault == .outage { providerReturns = timeline.milliseconds + Self.outage }
        let wait = process.wait { done(.lost) }
        let arrive: @Sendable (WireOutcome) -> Void = { [world] outcome in
            if fault == .crashOnAnswer { process.die() }
            guard process.stopWaiting(wait) else { return }
            world.ledger.arrived(outcome, request, exchange, form, at: process)
            world.trace("← \(exchange.rawValue) \(outcome.word)", nil)
            done(outcome)
        }
        if fault == .suspension { process.suspend() }
        let deliver: @Sendable (WireOutcome) -> Void = { outcome in
            // No connection outlives a suspension.
            let outcome = process.isSuspended ? .lost : outcome
            process.whenAwake { arrive(outcome) }
        }
        let there = delay(fault)
        let back = delay(fault)
        switch fault {
        case .unsent: timeline.after(there) { deliver(.unsent) }
        case .lostRequest: timeline.after(Self.readTimeout) { deliver(.lost) }
        case .late:
            timeline.after(Self.readTimeout) { deliver(.lost) }
            serve(request, after: Self.readTimeout + there) { _ in }
        case .busy, .limited, .limitedBare, .garbage:
            timeline.after(there + back) {
                deliver(.answer(self.handles.replacing(in: Self.instead(fault), to: form)))
            }
        case .lostAnswer:
            serve(request, after: there) { [timeline] _ in timeline.after(back) { deliver(.lost) } }
        case .busyAfter, .garbageAfter:
            serve(request, after: there) { [timeline] _ in
                timeline.after(back) { deliver(.answer(Self.instead(fault))) }
            }
        case .twice:
            serve(request, after: there) { [timeline] answer in
                timeline.after(back) { deliver(.answer(answer)) }
            }
            serve(request, after: there + delay(nil)) { _ in }
        default:
            serve(request, after: there) { [timeline] answer in
                timeline.after(back) { deliver(.answer(answer)) }
            }
        }
        if fault == .crashAfter { process.die() }
    }

    /// A request of a thread that waits: it is served, or not, at this very moment.
    func ask(_ request: WireRequest, from process: AppProcess) -> WireOutcome {
        let exchange = Exchange(request, [:])
        let fault = world.faults.next(.exchange(exchange))
        world.trace("⇄ \(exchange.rawValue)", fault)
        world.ledger.mint(by: process)
        let outcome = answer(request, exchange, fault, process)
        if case .answer(let answer) = outcome {
            world.ledger.mint(answer, to: request, by: process)
        }
        return outcome
    }

    private func answer(
        _ request: WireRequest, _ exchange: Exchange, _ fault: Fault?, _ process: AppProcess
    ) -> WireOutcome {
        switch fault {
        case .crashBefore:
            process.die()
            return .unsent
        case .unsent: return .unsent
        case .lostRequest: return .lost
        case .busy, .limited, .limitedBare, .garbage: return .answer(Self.instead(fault))
        default: break
        }
        world.ledger.sent(request, exchange, [:], by: process)
        jump(fault)
        if fault == .suspension { process.suspend() }
        if fault == .outage { world.broker.databaseReturns = timeline.milliseconds + Self.outage }
        let answer = dated(world.broker.answer(request))
        switch fault {
        case .lostAnswer, .late: return .lost
        case .busyAfter, .garbageAfter: return .answer(Self.instead(fault))
        case .twice: _ = world.broker.answer(request)
        case .crashAfter, .crashOnAnswer:
            process.die()
            return .lost
        default: break
        }
        return .answer(answer)
    }

    private func serve(
        _ request: WireRequest, after delay: Int64, _ done: @escaping @Sendable (WireAnswer) -> Void
    ) {
        timeline.after(delay) { [world, self] in
            guard timeline.milliseconds >= providerReturns else {
                return done(self.dated(Self.instead(.outage)))
            }
            Task(executorPreference: world.timeline) {
                let answer = await world.provider.answer(self.handles.restoring(request))
                done(self.dated(self.handles.replacing(in: answer, to: request.form)))
            }
        }
    }

    /// Every server says what time it is.
    private func dated(_ answer: WireAnswer) -> WireAnswer {
        var answer = answer
        let date = IMFFixdate.text(secondsSince1970: Int(timeline.milliseconds / 1000))
        answer.headers.append(("Date", date))
        return answer
    }

    private func jump(_ fault: Fault?) {
        switch fault {
        case .clockAhead: world.device.clockOffset += 7_200_000
        case .clockBack: world.device.clockOffset -= 7_200_000
        default: break
        }
    }

    private func delay(_ fault: Fault?) -> Int64 {
        fault == .slow ? 14_000 : Int64(timeline.draw(5...200))
    }

    private static func instead(_ fault: Fault?) -> WireAnswer {
        switch fault {
        case .limited: WireAnswer(status: 429, headers: [("Retry-After", "2")])
        case .limitedBare: WireAnswer(status: 429)
        case .garbage, .garbageAfter: WireAnswer(status: 200, body: Array("<html>".utf8))
        default: WireAnswer(status: 503, headers: [("Retry-After", "1")])
        }
    }
}

extension WireOutcome {
    /// For the trace.
    fileprivate var word: String {
        switch self {
        case .answer(let answer): "\(answer.status)"
        case .lost: "lost"
        case .unsent: "unsent"
        }
    }
}
