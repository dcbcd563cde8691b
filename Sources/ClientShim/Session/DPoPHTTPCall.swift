/// How often one call of `DPoPHTTP` may go out again, as a value: one nonce repeat, one refresh, and
/// after the refresh one nonce repeat more (R-000-45 to R-000-47). Four requests at most.
struct DPoPHTTPCall: Sendable, Equatable {
    enum Next: Sendable, Equatable {
        case give
        case repeatWithNonce
        case refreshAndRepeat
    }

    /// Whether a second attempt can deliver the same body.
    let canRepeat: Bool
    /// A refresh happened in this call, before the first attempt or after a 401.
    var hasRefreshed = false
    private var hasRepeatedWithNonce = false

    init(canRepeat: Bool) {
        self.canRepeat = canRepeat
    }

    /// - Parameter hasFreshNonce: the answer carries a nonce that the refused proof did not.
    mutating func next(
        after answer: HTTPAnswer, hasFreshNonce: Bool, _ session: SessionRecord
    ) -> Next {
        guard answer.status == 401, canRepeat else { return .give }
        switch AuthenticateChallenge.dpopError(in: answer.values("WWW-Authenticate")) {
        case "use_dpop_nonce" where hasFreshNonce && !hasRepeatedWithNonce:
            hasRepeatedWithNonce = true
            return .repeatWithNonce
        case "invalid_token" where !hasRefreshed && session.refreshToken != nil:
            hasRefreshed = true
            hasRepeatedWithNonce = false
            return .refreshAndRepeat
        default:
            return .give
        }
    }
}
