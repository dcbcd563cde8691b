import Dispatch
import Glibc
import JOSE
import Synchronization

/// Writes one JSON object a line to a descriptor, off the lanes, so that a slow reader of the log never holds up a mint.
///
/// An event that every mint must leave is not dropped: when the reader falls behind by more than `capacity`, `isStalled`
/// turns true and the service issues nothing until there is room again.
final class EventLog: Sendable {
    private let descriptor: Int32
    private let capacity: Int
    private let queue = DispatchQueue(label: "broker.log")
    private let pending = Mutex<[UInt8]>([])

    /// - Parameters:
    ///   - descriptor: standard output, unless a test says otherwise. SIGPIPE must be ignored by the process.
    ///   - capacity: octets that may wait to be written.
    init(descriptor: Int32 = STDOUT_FILENO, capacity: Int = 8 << 20) {
        self.descriptor = descriptor
        self.capacity = capacity
    }

    /// Whether events would be lost if more were written now.
    var isStalled: Bool { pending.withLock { $0.count >= capacity } }

    /// Queues an event: `ts` and `event` first, then what `members` writes.
    func write(_ event: String, at microseconds: Int64, _ members: (inout JSONWriter) -> Void) {
        var json = JSONWriter(capacity: 512)
        json.object {
            $0.member("ts", Timestamp.rfc3339(microseconds: microseconds))
            $0.member("event", event)
            members(&$0)
        }
        let isFirst = pending.withLock { pending in
            defer {
                pending.append(contentsOf: json.bytes)
                pending.append(0x0a)
            }
            return pending.isEmpty
        }
        if isFirst { queue.async { self.drain() } }
    }

    /// Waits until everything queued so far was written. For the end of the process, never on a lane.
    func flush() {
        queue.sync { drain() }
    }

    private func drain() {
        while true {
            let chunk = pending.withLock { $0 }
            guard !chunk.isEmpty else { return }
            writeAll(chunk)
            // Taken out only now, so that `isStalled` counts what a blocked write still holds.
            let isEmpty = pending.withLock { pending in
                pending.removeFirst(chunk.count)
                return pending.isEmpty
            }
            if isEmpty { return }
        }
    }

    private func writeAll(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno == EAGAIN {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, 1000)
            } else if errno != EINTR {
                return  // The reader is gone; whoever started the service chose to read no more.
            }
        }
    }
}
