internal import Glibc

/// Octets that came in and are not consumed yet, in memory of a fixed size. Lane-confined.
final class InputBuffer {
    private let base: UnsafeMutablePointer<UInt8>
    let capacity: Int
    private var start = 0
    private var end = 0

    init(capacity: Int) {
        self.capacity = capacity
        base = .allocate(capacity: capacity)
    }

    deinit { base.deallocate() }

    var octets: Octets { Octets(start: base + start, count: end - start) }
    var isEmpty: Bool { start == end }
    var isFull: Bool { end - start == capacity }

    func consume(_ count: Int) {
        start += count
        if start == end { (start, end) = (0, 0) }
    }

    func removeAll() { (start, end) = (0, 0) }

    func append(_ octets: [UInt8]) {
        fill { room in
            let count = min(room.count, octets.count)
            octets.withUnsafeBytes {
                room.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count]))
            }
            return count
        }
    }

    /// Lends the free space, of which `body` says how much it filled.
    @discardableResult
    func fill(_ body: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        if start > 0 {
            base.update(from: base + start, count: end - start)
            (start, end) = (0, end - start)
        }
        let count = body(UnsafeMutableRawBufferPointer(start: base + end, count: capacity - end))
        if count > 0 { end += count }
        return count
    }
}
