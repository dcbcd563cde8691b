import CSystemd
import Glibc

/// The service manager that started this process, told how it is (sd_notify(3)) and asked for its sockets
/// (sd_listen_fds(3)). Started by hand, there is none: nobody is told and there is no socket.
enum ServiceManager {
    /// The service can take requests.
    static func ready() { notify("READY=1") }

    /// It reads its files again; `ready` ends this.
    static func reloading() {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        notify("RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1000)")
    }

    /// It finishes what is in flight.
    static func stopping() { notify("STOPPING=1") }

    /// The descriptor of the first socket that is handed over.
    static let firstSocket: Int32 = SD_LISTEN_FDS_START

    /// Makes sure that one socket was handed over to this very process, and no more.
    ///
    /// - Throws: `refused`.
    static func checkSocket() throws(CommandError) {
        let count = sd_listen_fds(0)
        guard count >= 0 else { throw .refused("LISTEN_FDS: \(String(cString: strerror(-count)))") }
        guard count == 1 else {
            throw .refused(
                "listen.systemd needs one socket from systemd, and \(count) were handed over; "
                    + "start it with a .socket unit, or give listen an address")
        }
    }

    /// A manager that cannot be reached does not stop the service.
    private static func notify(_ state: String) { _ = sd_notify(0, state) }
}
