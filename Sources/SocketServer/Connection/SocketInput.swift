internal import Glibc

/// The reading side of a non-blocking socket under edge-triggered `epoll`: it remembers whether the kernel may have more.
struct SocketInput {
    private let descriptor: Int32
    /// False after the kernel had no more, until an event says otherwise.
    private(set) var mayHaveMore = true
    private(set) var hasEnded = false
    private(set) var hasFailed = false
    private var isEndAnnounced = false

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// An event came in.
    mutating func noteReady(endAnnounced: Bool) {
        mayHaveMore = !hasEnded && !hasFailed
        if endAnnounced { isEndAnnounced = true }
    }

    /// The peer has said by other means that it sends no more.
    mutating func noteEnd() {
        hasEnded = true
        mayHaveMore = false
    }

    /// - Returns: how many octets came, 0 when there are none now.
    mutating func receive(into room: UnsafeMutableRawBufferPointer) -> Int {
        guard room.count > 0, mayHaveMore else { return 0 }
        while true {
            let count = recv(descriptor, room.baseAddress, room.count, 0)
            if count > 0 {
                // Less than there was room for: the kernel has no more, and tells when it has (epoll(7)). Only an end
                // that was already announced must still be fetched.
                if count < room.count, !isEndAnnounced { mayHaveMore = false }
                return count
            }
            let error = errno
            if count < 0, error == EINTR { continue }
            mayHaveMore = false
            if count == 0 { hasEnded = true }
            if count < 0, error != EAGAIN { hasFailed = true }
            return 0
        }
    }
}
