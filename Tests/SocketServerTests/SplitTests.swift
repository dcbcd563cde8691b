import Testing

@testable import SocketServer

@Suite struct SplitTests {
    /// Every input short enough to be cut everywhere.
    static let short = RawInputs.all.filter { $0.bytes.count <= 250 }

    @Test(arguments: short)
    func `any single cut of the input gives the same result`(_ input: RawInput) {
        let whole = ConnectionTrace(input.bytes, cuts: [])
        for cut in 0...input.bytes.count {
            #expect(ConnectionTrace(input.bytes, cuts: [cut]) == whole, "cut at \(cut)")
        }
        #expect(
            ConnectionTrace(input.bytes, cuts: Array(0..<input.bytes.count)) == whole,
            "octet by octet")
    }

    @Test(arguments: ForwardedInput.all)
    func `any single cut of what a proxy sends gives the same client`(_ input: ForwardedInput)
        throws
    {
        let bytes = Array(
            "GET /hello HTTP/1.1\r\nHost: a\r\n\(input.lines)\r\n\(RawInput.second)".utf8)
        let peer = try TrustedProxyTests.peer(input.field)
        let whole = ConnectionTrace(bytes, cuts: [], from: peer)
        for cut in stride(from: 0, through: bytes.count, by: bytes.count > 500 ? 97 : 1) {
            #expect(ConnectionTrace(bytes, cuts: [cut], from: peer) == whole, "cut at \(cut)")
        }
    }

    @Test(arguments: 0..<300)
    func `any split of any mutation gives the same result`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let input = try #require(Self.short.randomElement(using: &random))
        var bytes = input.bytes + input.bytes
        for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                bytes[index] =
                    [0, 9, 10, 13, 32, 44, 58, 59, 255].randomElement(using: &random) ?? 0
            case 1: bytes.remove(at: index)
            default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
            }
        }
        let whole = ConnectionTrace(bytes, cuts: [])
        for _ in 0..<20 {
            let cuts = (0..<Int.random(in: 1...8, using: &random))
                .map { _ in Int.random(in: 0...bytes.count, using: &random) }.sorted()
            #expect(ConnectionTrace(bytes, cuts: cuts) == whole, "cuts \(cuts)")
        }
    }

    @Test func `a head at the limits is the same whole and in pieces`() {
        for size in [16 * 1024 - 20, 16 * 1024, 16 * 1024 + 20] {
            let filler = String(repeating: "y", count: size - 18)
            let bytes = Array("GET / HTTP/1.1\r\nHost: a\r\nX: \(filler)\r\n\r\n".utf8)
            let whole = ConnectionTrace(bytes, cuts: [])
            #expect(
                ConnectionTrace(bytes, cuts: Array(stride(from: 0, to: bytes.count, by: 7)))
                    == whole)
        }
    }
}
