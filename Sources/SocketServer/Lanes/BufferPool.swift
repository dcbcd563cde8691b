/// Buffers for the time of one event. Connections that wait hold none, so ten thousand idle ones cost little.
struct BufferPool {
    private static let kept = 16
    private static let largestKept = 128 * 1024
    private var outputs: [[UInt8]] = []
    private var inputs: [InputBuffer] = []

    /// An empty buffer to write a response into.
    mutating func takeOutput() -> [UInt8] {
        if let buffer = outputs.popLast() { return buffer }
        var buffer: [UInt8] = []
        buffer.reserveCapacity(4096)
        return buffer
    }

    mutating func give(_ buffer: consuming [UInt8]) {
        guard outputs.count < Self.kept, (1...Self.largestKept).contains(buffer.capacity) else {
            return
        }
        buffer.removeAll(keepingCapacity: true)
        outputs.append(buffer)
    }

    /// An empty buffer to read into, with at least this capacity.
    mutating func takeInput(capacity: Int) -> InputBuffer {
        if let buffer = inputs.popLast(), buffer.capacity >= capacity { return buffer }
        return InputBuffer(capacity: capacity)
    }

    mutating func give(_ buffer: InputBuffer) {
        guard inputs.count < Self.kept else { return }
        buffer.removeAll()
        inputs.append(buffer)
    }
}
