import CProcess
import Glibc

/// Keeps what this process has in memory from leaving it: no core files, and no look at it by other processes of its user.
enum ProcessMemory {
    static func protect() throws(CommandError) {
        // Where a limit may not be set, the next step alone does it.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        guard cprocess_forbid_dumps() == 0, cprocess_allows_dumps() == 0 else {
            throw .unavailable(
                "the process cannot be kept from being dumped (errno \(errno)): its memory holds keys"
            )
        }
    }
}
