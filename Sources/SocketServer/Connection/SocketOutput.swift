internal import Glibc

/// The writing side of a non-blocking socket: answers are gathered here, and what the socket does not take at once waits.
struct SocketOutput {
    enum Flush { case done, blocked, failed }

    private let descriptor: Int32
    /// Answers in plain text.
    private var answers: [UInt8] = []
    /// What goes over the wire: the answers themselves, or their TLS records.
    private var wire: [UInt8] = []
    private var sent = 0

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Octets gathered since the last flush.
    var gathered: Int { answers.count }
    /// Whether the socket still has to take something it was offered.
    var isBlocked: Bool { !wire.isEmpty }

    mutating func append(on lane: Lane, _ body: (inout [UInt8]) -> Void) {
        if answers.capacity == 0 { answers = lane.takeOutput() }
        body(&answers)
    }

    /// Offers everything to the socket. After `blocked`, an event tells when to go on.
    mutating func flush(through tls: TLSSession?, on lane: Lane) -> Flush {
        guard seal(with: tls, on: lane) else { return .failed }
        while sent < wire.count {
            let count = wire.withUnsafeBytes {
                let rest = UnsafeRawBufferPointer(rebasing: $0[sent...])
                return send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                sent += count
            } else if errno == EAGAIN {
                return .blocked
            } else if errno != EINTR {
                return .failed
            }
        }
        sent = 0
        lane.giveBack(wire)
        wire = []
        return .done
    }

    private mutating func seal(with tls: TLSSession?, on lane: Lane) -> Bool {
        guard let tls else {
            if wire.isEmpty {
                swap(&wire, &answers)
            } else {
                wire.append(contentsOf: answers)
                answers.removeAll(keepingCapacity: true)
            }
            return true
        }
        if !answers.isEmpty {
            guard tls.seal(answers) else { return false }
            lane.giveBack(answers)
            answers = []
        }
        if tls.hasOutput {
            if wire.capacity == 0 { wire = lane.takeOutput() }
            tls.takeOutput(into: &wire)
        }
        return true
    }
}
