extension SignInFailure {
    /// What a provider's refusal means for a sign-in.
    init(_ refusal: Refusal) {
        if let code = [refusal.error, refusal.code].compactMap(\.self)
            .first(where: Self.preconditionCodes.contains)
        {
            self = .notAllowed(code: code)
            return
        }
        switch refusal.error {
        case "redirect_to_web": self = .browserRequired(requestUri: refusal.requestUri)
        case "access_denied": self = .accessDenied
        case "attestation_rejected", "invalid_client_attestation": self = .attestationRejected
        case "device_key_revoked": self = .deviceKeyRevoked
        case "device_key_replaced": self = .deviceKeyReplaced
        case "ceremony_unavailable": self = .notEnrolled
        case "pki_not_available": self = .pkiNotAvailable
        default: self = .server(message: refusal.message)
        }
    }

    /// The settings a provider checks on every call (flows §3.2, R-000-07).
    static let preconditionCodes: Set<String> = [
        "first_party_requires_own_app", "first_party_requires_dpop",
        "first_party_excludes_certificate_binding", "first_party_not_enabled",
        "redirect_uri_required", "redirect_uri_scheme", "client_auth_method",
    ]
}
