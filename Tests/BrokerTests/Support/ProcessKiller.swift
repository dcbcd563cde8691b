import Glibc
import Synchronization
import TestKit

/// Kills a process that speaks with the database, with SIGKILL, at the answer of the test's choice: what it asked for is done, and it
/// never learns.
final class ProcessKiller: Sendable {
    private final class Count: Sendable {
        /// Answers until the one that kills; `nil` when none does.
        let left = Mutex<Int?>(nil)
        let killed = Mutex(0)
    }

    private let count: Count
    private let doorway: DatabaseDoorway

    /// How many processes were killed.
    var killed: Int { count.killed.withLock { $0 } }

    init(before cluster: PostgresCluster) throws {
        let count = Count()
        self.count = count
        doorway = try DatabaseDoorway(before: cluster) { piece in
            guard case .answer(let client) = piece else { return true }
            let isLast = count.left.withLock { left in
                guard let number = left else { return false }
                left = number > 1 ? number - 1 : nil
                return number == 1
            }
            guard isLast else { return true }
            var peer = PeerCredentials()
            var length = socklen_t(MemoryLayout<PeerCredentials>.size)
            guard getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0,
                kill(peer.pid, SIGKILL) == 0
            else { return true }
            count.killed.withLock { $0 += 1 }
            return false
        }
    }

    /// The same database through this.
    func url(of database: String) -> String { doorway.url(of: database) }

    /// The process that gets the answer with this number from now on, counted from 1, will not read it.
    func arm(at number: Int) { count.left.withLock { $0 = number } }
    func disarm() { count.left.withLock { $0 = nil } }
}

/// The kernel's `struct ucred`, which is not imported into Swift.
private struct PeerCredentials {
    var pid: Int32 = 0
    var uid: UInt32 = 0
    var gid: UInt32 = 0
}
