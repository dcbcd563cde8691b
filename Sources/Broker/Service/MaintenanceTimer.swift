import Dispatch
import JOSE

/// Runs the store's maintenance once a minute and logs what it did.
///
/// Sendable: the timer is never touched after `init` but to cancel it, which Dispatch allows from any thread.
final class MaintenanceTimer: @unchecked Sendable {
    private let timer: any DispatchSourceTimer

    init(_ maintenance: StoreMaintenance, log: EventLog, clock: WallClock) {
        timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "broker.maintenance"))
        timer.schedule(deadline: .now() + 5, repeating: 60, leeway: .seconds(1))
        timer.setEventHandler {
            Task {
                do {
                    let round = try await maintenance.run()
                    guard round != StoreMaintenance.Round() else { return }
                    log.write("store.maintained", at: clock.microseconds()) {
                        $0.member("emptied", round.emptied.count)
                        $0.member("forgotten", round.forgotten)
                        if round.endedOverrides > 0 {
                            $0.member("ended_overrides", round.endedOverrides)
                        }
                        if round.rotated { $0.member("nonce_secret", "rotated") }
                    }
                } catch {
                    log.write("store.maintenance_failed", at: clock.microseconds()) {
                        $0.member("cause", String(describing: error))
                    }
                }
            }
        }
        timer.activate()
    }

    func stop() {
        timer.cancel()
    }
}
