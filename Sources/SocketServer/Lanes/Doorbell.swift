internal import CEpoll
internal import Glibc

/// Ends an `epoll_wait` from another thread (eventfd(2)).
struct Doorbell: ~Copyable {
    /// Where the lane finds the bell among its events: no watcher is ever given this key.
    static let key = UInt64.max
    private let descriptor: Int32

    /// - Returns: `nil` with `errno` when the kernel has no descriptor for it.
    init?(on poller: Int32) {
        let descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { return nil }
        var event = epoll_event()
        // Edge-triggered: each ring is an event of its own, and nobody needs to read the count.
        event.events = EPOLLIN.rawValue | EPOLLET.rawValue
        event.data.u64 = Self.key
        guard epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) == 0 else {
            let error = errno
            close(descriptor)
            errno = error
            return nil
        }
        self.descriptor = descriptor
    }

    func ring() {
        _ = eventfd_write(descriptor, 1)
    }

    deinit { close(descriptor) }
}
