@testable import SocketServer

/// The whole connection machine. The first two octets choose how the rest is split: any split must give the same events.
enum HTTPTarget: FuzzTarget {
    static func run(_ bytes: [UInt8]) {
        guard bytes.count > 2 else { return }
        let stream = Array(bytes[2...])
        let whole = ConnectionTrace(stream, cuts: [])
        let split = ConnectionTrace(stream, cuts: cuts(stream.count, bytes[0], bytes[1]))
        promise(split == whole, "split: \(split.events)\nwhole: \(whole.events)")
        // Octet by octet costs the square of the length.
        guard stream.count <= 1024 else { return }
        let single = ConnectionTrace(stream, cuts: Array(0..<stream.count))
        promise(single == whole, "octet by octet: \(single.events)\nwhole: \(whole.events)")
    }

    private static func cuts(_ count: Int, _ first: UInt8, _ step: UInt8) -> [Int] {
        Array(stride(from: Int(first) % (count + 1), to: count, by: Int(step) + 1))
    }
}
