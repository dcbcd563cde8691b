/// Judges the certificates that trusted proxies hand on, and remembers for a while what it found good: a list of revocations
/// is signed as a whole, and to check that for every request would cost more than all the rest.
final class ForwardedVerifier: Sendable {
    private let form: ForwardedCertificates
    private let now: @Sendable () -> Int64
    private let observer: QuietObserver
    private let state: Locked<State>

    private struct State {
        var authorities: ClientAuthorities
        /// By the SHA-256 of certificate and chain.
        var good: [[UInt8]: (certificate: ClientCertificate, until: Int64)] = [:]
    }

    /// Certificates remembered at most, some hundred octets each.
    private static let mostRemembered = 1024

    /// - Parameter now: seconds since 1970 UTC.
    init(
        _ form: ForwardedCertificates, authorities: ClientAuthorities, observer: QuietObserver,
        now: @escaping @Sendable () -> Int64
    ) {
        self.form = form
        self.observer = observer
        self.now = now
        state = Locked(State(authorities: authorities))
    }

    /// Requests from now on are judged by these, also on connections that are open.
    func replace(_ authorities: ClientAuthorities) {
        state.withLock { $0 = State(authorities: authorities) }
    }

    var authorities: ClientAuthorities { state.withLock(\.authorities) }

    /// The client's certificate; `nil` when the proxy hands none on.
    /// - Throws: `malformedForwarding`, or `clientCertificateRefused` when it is not good.
    func certificate(
        in headers: HTTPHeaders, from peer: RemoteAddress
    ) throws(HTTPRejection) -> ClientCertificate? {
        guard let chain = try form.read(headers), let leaf = chain.first else { return nil }
        let (now, key) = (now(), Certificate.sha256(of: chain))
        let (authorities, known) = state.withLock { ($0.authorities, $0.good[key]) }
        if let known, now <= known.until { return known.certificate }
        switch authorities.verify(leaf, with: Array(chain.dropFirst()), now: now) {
        case .bad(let reason):
            observer.report(.clientCertificateRefused(peer, reason: reason), .certificate)
            throw .clientCertificateRefused
        case .good(let certificate, let until):
            state.withLock { state in
                guard state.authorities === authorities else { return }
                if state.good.count >= Self.mostRemembered { state.good = [:] }
                state.good[key] = (certificate, until)
            }
            return certificate
        }
    }
}
