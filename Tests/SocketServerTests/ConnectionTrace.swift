@testable import SocketServer

/// What a connection's rules make of some input, with all that is observable. The fuzzer (`Tests/Fuzz`) compiles this file too.
struct ConnectionTrace: Equatable {
    private(set) var events: [String] = []

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
        if !run(&machine, &pending) { events.append("not finished at the end") }
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
                events.append("waits for an answer that was given")
                return true
            case .finish:
                events.append("finished")
                return true
            }
        }
    }
}
