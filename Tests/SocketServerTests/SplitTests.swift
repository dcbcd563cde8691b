import Testing

@testable import SocketServer

/// What a connection's rules make of some input, with all that is observable.
private struct Trace: Equatable {
    var events: [String] = []

    /// Feeds the pieces to a machine whose handler echoes, as a connection would.
    init(
        _ bytes: [UInt8], cuts: [Int], from peer: Peer = Peer(address: .loopback, isTLS: false)
    ) {
        var machine = ConnectionMachine(limits: HTTPLimits(), peer: peer)
        var pending: [UInt8] = []
        var start = 0
        for cut in cuts + [bytes.count] {
            pending += bytes[start..<cut]
            start = cut
            if run(&machine, &pending) { return }
        }
        machine.endInput()
        _ = run(&machine, &pending)
    }

    /// - Returns: whether the connection is finished.
    private mutating func run(_ machine: inout ConnectionMachine, _ pending: inout [UInt8]) -> Bool
    {
        while true {
            var consumed = 0
            let step = pending.withUnsafeBufferPointer { machine.step($0, consumed: &consumed) }
            pending.removeFirst(consumed)
            switch step {
            case .needInput: return false
            case .sendContinue: break  // depends on timing by design
            case .admit(let head):
                events.append("\(head.method) \(head.path) \(head.headers.pairs) \(head.remote)")
                if head.path.hasPrefix("/refuse") {
                    events.append("refused \(machine.answered(closes: false).closes)")
                } else if let rejection = machine.admitted(bodyLimit: 64) {
                    events.append("\(rejection)")
                    _ = machine.rejected()
                }
            case .handle(let request):
                events.append(String(decoding: request.body, as: UTF8.self))
                events.append("answered \(machine.answered(closes: false).closes)")
            case .reject(let rejection):
                events.append("\(rejection)")
                _ = machine.rejected()
            case .awaitAnswer:
                Issue.record("nothing to wait for")
                return true
            case .finish:
                events.append("finished")
                return true
            }
        }
    }
}

@Suite struct SplitTests {
    /// Every input short enough to be cut everywhere.
    static let short = RawInputs.all.filter { $0.bytes.count <= 250 }

    @Test(arguments: short)
    func `any single cut of the input gives the same result`(_ input: RawInput) {
        let whole = Trace(input.bytes, cuts: [])
        for cut in 0...input.bytes.count {
            #expect(Trace(input.bytes, cuts: [cut]) == whole, "cut at \(cut)")
        }
        #expect(Trace(input.bytes, cuts: Array(0..<input.bytes.count)) == whole, "octet by octet")
    }

    @Test(arguments: ForwardedInput.all)
    func `any single cut of what a proxy sends gives the same client`(_ input: ForwardedInput)
        throws
    {
        let bytes = Array(
            "GET /hello HTTP/1.1\r\nHost: a\r\n\(input.lines)\r\n\(RawInput.second)".utf8)
        let peer = try TrustedProxyTests.peer(input.field)
        let whole = Trace(bytes, cuts: [], from: peer)
        for cut in stride(from: 0, through: bytes.count, by: bytes.count > 500 ? 97 : 1) {
            #expect(Trace(bytes, cuts: [cut], from: peer) == whole, "cut at \(cut)")
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
        let whole = Trace(bytes, cuts: [])
        for _ in 0..<20 {
            let cuts = (0..<Int.random(in: 1...8, using: &random))
                .map { _ in Int.random(in: 0...bytes.count, using: &random) }.sorted()
            #expect(Trace(bytes, cuts: cuts) == whole, "cuts \(cuts)")
        }
    }

    @Test func `a head at the limits is the same whole and in pieces`() {
        for size in [16 * 1024 - 20, 16 * 1024, 16 * 1024 + 20] {
            let filler = String(repeating: "y", count: size - 18)
            let bytes = Array("GET / HTTP/1.1\r\nHost: a\r\nX: \(filler)\r\n\r\n".utf8)
            let whole = Trace(bytes, cuts: [])
            #expect(Trace(bytes, cuts: Array(stride(from: 0, to: bytes.count, by: 7))) == whole)
        }
    }
}
