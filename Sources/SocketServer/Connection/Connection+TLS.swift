/// How a connection's octets pass through its TLS session.
extension Connection {
    /// - Returns: whether the handshake is complete.
    func shakeHands() -> Bool {
        guard let tls else { return true }
        while true {
            switch tls.shakeHands() {
            case .done:
                timing.handshakeDone(at: lane.now)
                return flush()
            case .needInput:
                flush()
                guard !isClosed, receiveCiphertext() else { return false }
            case .failed:
                // The alert says why.
                flush()
                end()
                return false
            }
        }
    }

    /// - Returns: how many octets were decrypted into `room`.
    func readPlaintext(into room: UnsafeMutableRawBufferPointer) -> Int {
        guard let tls, room.count > 0 else { return 0 }
        while true {
            guard let count = tls.open(into: room) else {
                flush()
                end()
                return 0
            }
            if count > 0 { return count }
            if tls.isAtEnd {
                markInputEnded()
                return 0
            }
            guard receiveCiphertext() else { return 0 }
        }
    }

    /// - Returns: whether anything came.
    private func receiveCiphertext() -> Bool {
        guard let tls, mayReceive else { return false }
        return withUnsafeTemporaryAllocation(byteCount: 17 * 1024, alignment: 1) { room in
            let count = receive(into: room)
            guard count > 0 else { return false }
            return tls.receive(UnsafeRawBufferPointer(rebasing: room[..<count]))
        }
    }
}
