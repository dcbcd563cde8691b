/// How a connection's octets pass through its TLS session.
extension Connection {
    /// - Returns: whether the handshake is complete and its last flight on the way.
    func shakeHands() -> Bool {
        guard let tls else { return true }
        while !isClosed {
            switch tls.shakeHands() {
            case .done:
                handshakeDone()
                return flush()
            case .needInput:
                flush()
                guard !isClosed, receiveCiphertext() else {
                    if socketInput.hasEnded || socketInput.hasFailed { end() }
                    return false
                }
            case .failed:
                if let reason = tls.clientRefusal {
                    server.observer.report(
                        .clientCertificateRefused(remote, reason: reason), .certificate)
                }
                giveUp()
                return false
            }
        }
        return false
    }

    /// How the client of a request stands that has come, told when its certificate is no longer good. A proxy's own certificate
    /// speaks for nobody.
    var standing: TLSSession.Standing {
        guard let tls, tls.clientCertificate != nil, server.door.trusted(remote) == nil else {
            return .good
        }
        let standing = tls.standing(by: server.currentTLS)
        if case .over(let reason) = standing {
            server.observer.report(.clientCertificateRefused(remote, reason: reason), .certificate)
        }
        return standing
    }

    /// - Returns: how many octets were decrypted into `room`, 0 when there are none now.
    func receivePlaintext(into room: UnsafeMutableRawBufferPointer) -> Int {
        guard let tls, room.count > 0 else { return 0 }
        while true {
            guard let count = tls.open(into: room) else {
                giveUp()
                return 0
            }
            if count > 0 { return count }
            if tls.isAtEnd {
                socketInput.noteEnd()
                return 0
            }
            guard receiveCiphertext() else { return 0 }
        }
    }

    /// The alert says why. It would be lost in a reset if octets of the peer were left unread, as they are when a client
    /// learns that its certificate is no good: in TLS 1.3 it has already sent its request.
    private func giveUp() {
        guard !isClosed else { return }
        startLingering()
    }

    /// - Returns: whether anything came.
    private func receiveCiphertext() -> Bool {
        guard let tls else { return false }
        let isTaken: Bool? = withUnsafeTemporaryAllocation(byteCount: 17 * 1024, alignment: 1) {
            room in
            let count = socketInput.receive(into: room)
            guard count > 0 else { return nil }
            return tls.receive(UnsafeRawBufferPointer(rebasing: room[..<count]))
        }
        if isTaken == false { end() }
        return isTaken == true
    }
}
