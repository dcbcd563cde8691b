import JOSE

/// What the tenant does about evidence for a genuine app (R-000-08).
struct AttestationPolicy: Sendable {
    enum Mode: String, Sendable, CaseIterable {
        /// Evidence is not looked at.
        case off
        /// Evidence is verified and the outcome logged; nothing is refused.
        case audit
        /// A start without good evidence is refused.
        case enforce
    }

    var mode = Mode.off
    /// Whose signature makes evidence good; in the sandbox one key stands for the platform's whole chain.
    var key: PublicKey?

    /// What comes of a start's evidence: the outcome for the log, `nil` when there is nothing to say.
    ///
    /// - Parameter challenge: what the evidence must be over: the `nonce` of the start.
    /// - Throws: under `enforce`, `attestationRejected` for missing or bad evidence.
    func judge(
        _ evidence: String?, challenge: String?, now: Int64
    ) throws(OAuthFault) -> String? {
        guard mode != .off else { return nil }
        do throws(AttestationFault) {
            guard let evidence else { throw .missing }
            try AttestationEvidence(parsing: evidence).check(
                by: key, challenge: challenge, now: now)
            return "attestation: good"
        } catch {
            guard mode == .audit else { throw .attestationRejected(error) }
            return "attestation: \(error)"
        }
    }
}

/// Why evidence is not good.
enum AttestationFault: Error, Equatable, Sendable {
    case missing
    case malformed(JWSError)
    case type
    case algorithm
    case signature
    case challenge
    case age
}
