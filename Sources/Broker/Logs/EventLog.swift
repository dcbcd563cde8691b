import Dispatch
import Glibc
import JOSE
import Synchronization

/// Writes one JSON object a line to a descriptor, off the lanes, so that a slow reader of the log never holds up a mint.
///
/// An event of a minted assertion is never dropped: when the reader falls behind by more than `capacity`, `isStalled` turns
/// true and the service issues nothing until there is room again. What is still written then (refusals, for the most part)
/// is kept up to twice `capacity`; beyond that it is counted, and the count is logged once there is room.
final class EventLog: Sendable {
    private struct Pending {
        var bytes: [UInt8] = []
        /// Octets that are being written at present.
        var leaving = 0
        var dropped = 0
        var isDrainDue = false

        var count: Int { bytes.count + leaving }
    }

    private let descriptor: Int32
    private let capacity: Int
    private let queue = DispatchQueue(label: "broker.log")
    /// How long an event may wait for others to be written with it: a write a mint costs more than making its line.
    private static let gathering = DispatchTimeInterval.milliseconds(5)
    private let pending = Mutex(Pending())

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
        let line = Self.line(event, at: microseconds, members)
        let isFirst = pending.withLock { pending in
            guard pending.count < 2 * capacity else {
                pending.dropped += 1
                return false
            }
            if pending.dropped > 0 {
                pending.bytes += Self.line("log.dropped", at: microseconds) { json in
                    json.member("events", pending.dropped)
                }
                pending.bytes.append(0x0a)
                pending.dropped = 0
            }
            pending.bytes += line
            pending.bytes.append(0x0a)
            let isFirst = !pending.isDrainDue
            pending.isDrainDue = true
            return isFirst
        }
        if isFirst { queue.asyncAfter(deadline: .now() + Self.gathering) { self.drain() } }
    }

    /// Waits until everything queued so far was written, or `limit` has passed: a reader that is stuck must not keep the
    /// process from ending.
    func flush(within limit: DispatchTimeInterval = .seconds(2)) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let end = FlushEnd(continuation)
            queue.async {
                self.drain()
                end.reached()
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + limit) { end.reached() }
        }
    }

    private static func line(
        _ event: String, at microseconds: Int64, _ members: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        var json = JSONWriter(capacity: 512)
        json.object {
            $0.member("ts", Timestamp.rfc3339(microseconds: microseconds))
            $0.member("event", event)
            members(&$0)
        }
        return json.bytes
    }

    private func drain() {
        while true {
            let chunk = pending.withLock { pending -> [UInt8] in
                var chunk: [UInt8] = []
                swap(&chunk, &pending.bytes)
                // Counted until it is written, so that `isStalled` knows what a blocked write still holds.
                pending.leaving = chunk.count
                pending.isDrainDue = !chunk.isEmpty
                return chunk
            }
            guard !chunk.isEmpty else { return }
            writeAll(chunk)
            pending.withLock { $0.leaving = 0 }
        }
    }

    private func writeAll(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
                continue
            }
            switch errno {
            case EINTR: continue
            case EPIPE, EBADF:
                return  // The reader is gone; whoever started the service chose to read no more.
            case EAGAIN:
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, 1000)
            default:
                // A full disk, say: wait for room, so that the service stalls instead of minting without a trail.
                poll(nil, 0, 100)
            }
        }
    }
}

/// Resumes whoever waits for a flush, once.
private final class FlushEnd: Sendable {
    private let continuation: Mutex<CheckedContinuation<Void, Never>?>

    init(_ continuation: CheckedContinuation<Void, Never>) {
        self.continuation = Mutex(continuation)
    }

    func reached() {
        continuation.withLock { $0.take() }?.resume()
    }
}
