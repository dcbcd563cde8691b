internal import COpenSSL

/// A connection may outlive what its handshake found: certificates and revocation lists end, and a reload brings others.
extension TLSSession {
    /// How a client that showed a certificate stands when another request comes.
    enum Standing: Equatable {
        case good
        /// Good, but the next request needs a new handshake.
        case ending
        /// The client's certificate is no longer good, for OpenSSL's reason.
        case over(reason: String)
    }

    /// Seconds before the end from which a connection is ended with an answer, so that a client that comes back in time
    /// never meets a refusal: longer than a connection may be idle.
    static let farewell: Int64 = 120

    /// - Parameter current: what new handshakes are judged by.
    func standing(by current: TLSContext?) -> Standing {
        let now = context.now()
        guard current === context else { return judgeAnew(by: current?.authorities, now: now) }
        let left = certificateHoldsUntil - now
        guard left >= 0 else {
            return .over(reason: Self.text(X509_V_ERR_CERT_HAS_EXPIRED))
        }
        return left < Self.farewell ? .ending : .good
    }

    /// Authorities or lists were replaced since the handshake. A resumed session knows no issuers between: where they are
    /// needed and the authorities' file does not name them, the client must make a new connection.
    private func judgeAnew(by authorities: ClientAuthorities?, now: Int64) -> Standing {
        guard let authorities, let leaf = SSL_get0_peer_certificate(ssl) else {
            return .over(reason: Self.text(X509_V_ERR_CERT_UNTRUSTED))
        }
        let shown = SSL_get_peer_cert_chain(ssl)
        let issuers = (0..<max(OPENSSL_sk_num(shown), 0)).compactMap { index in
            OPENSSL_sk_value(shown, index).map { Self.shared(OpaquePointer($0)) }
        }
        switch authorities.verify(Self.shared(leaf), with: issuers, now: now) {
        case .good: return .ending
        case .bad(let reason): return .over(reason: reason)
        }
    }

    private static func shared(_ certificate: OpaquePointer) -> Certificate {
        X509_up_ref(certificate)
        return Certificate(owning: certificate)
    }

    private static func text(_ error: Int32) -> String {
        String(cString: X509_verify_cert_error_string(Int(error)))
    }
}
