import CLibpq

/// Asks a server to stop what one connection runs, over a connection of its own.
/// Sendable: libpq lets any thread use a `PGcancel`.
final class Canceller: @unchecked Sendable {
    private let cancel: OpaquePointer

    init(_ cancel: OpaquePointer) {
        self.cancel = cancel
    }

    deinit { PQfreeCancel(cancel) }

    /// Waits on this thread, for as long as the server takes to accept a connection.
    func requestCancel() {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message in
            _ = PQcancel(cancel, message.baseAddress, 256)
        }
    }
}
