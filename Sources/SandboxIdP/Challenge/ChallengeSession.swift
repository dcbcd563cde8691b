import JOSE

/// One sign-in under way, from its start to the end of its time.
struct ChallengeSession: Sendable {
    /// The session handle of the portal; no secret.
    let sid: String
    let clientId: String
    /// The key that began it; every later call must prove the same one (R-000-13).
    let jkt: DpopJkt
    /// The hint, in lower case. Whether anybody bears that address changes no answer (R-000-14).
    let email: String
    let scope: Scope
    let resource: String?
    let challenge: CodeChallenge
    /// The ID token's `nonce`.
    let nonce: String?
    /// Seconds since 1970 UTC.
    let expiresAt: Int64
    var stage = Stage.open

    enum Stage: Sendable {
        /// Waiting for the ceremony.
        case open
        /// The ceremony was completed.
        case completed(Completion)
        /// Ended by the user, by the device, or because a code was used twice.
        case ended
    }

    /// What the session holds once its ceremony was accepted.
    struct Completion: Sendable {
        /// SHA-256 of the accepted `ceremony_response`: a re-send brings exactly these bytes (R-000-22).
        let digest: TokenDigest
        let keyId: String
        let subject: String
        /// When the user was authenticated, seconds since 1970 UTC.
        let authTime: Int64
        /// The newest code.
        var code: TokenDigest
        /// Codes handed out in place of a spent one (R-000-25).
        var replacements = 0
    }

    /// Replacement codes of one session at most.
    static let maximumReplacements = 3

    func hasExpired(_ now: Int64) -> Bool { now >= expiresAt }
}
