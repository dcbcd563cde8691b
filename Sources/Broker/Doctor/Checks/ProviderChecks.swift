import AssertionMint

/// Judges a provider's metadata, for all of its clients (RFC 8414, FAPI 2.0 §5.3.2.1, flows §1.6). Pure.
enum ProviderChecks {
    static let methodsMember = "token_endpoint_auth_methods_supported"
    static let algorithmsMember = "token_endpoint_auth_signing_alg_values_supported"
    static let dpopMember = "dpop_signing_alg_values_supported"
    static let pkceMember = "code_challenge_methods_supported"
    static let challengeMember = "authorization_challenge_endpoint"

    /// FAPI 2.0 §5.3.2.1: mTLS or `private_key_jwt`; and the methods of attestation-based client authentication.
    static let strongMethods: Set<String> = [
        "private_key_jwt", "tls_client_auth", "self_signed_tls_client_auth",
        "attest_jwt_client_auth", "attest_jwt_client_auth_dpop",
    ]
    /// FAPI 2.0 §5.4.1.
    static let strongAlgorithms: Set<String> = ["ES256", "PS256", "EdDSA", "Ed25519"]

    static func findings(_ fetched: FetchedDocument, of issuer: Issuer) -> [Finding] {
        let subject = FindingSubject.provider(issuer)
        var findings: [Finding] = []
        if issuer.rawValue.lowercased().hasPrefix("http:") {
            findings.append(
                Finding(.providerPlainHTTP, subject, "it is asked over plain http on this machine"))
        }
        if fetched.wasAnswered, fetched.clock == nil {
            findings.append(
                Finding(
                    .clockProviderUnknown, subject,
                    fetched.isFromCache
                        ? "its answer comes from a cache (Age), so its Date tells nothing"
                        : "its answer has no Date that can be read"))
        }
        switch fetched.document {
        case .failure(let fault):
            return findings + [Finding(code(fault), subject, "\(quoted(fetched.url)): \(fault)")]
        case .success(let json):
            let metadata = MetadataDocument(json)
            let faults =
                self.issuer(metadata, issuer, subject) + endpoints(metadata, subject)
                + methods(metadata, subject) + algorithms(metadata, subject)
            if !faults.contains(where: { $0.level == .fault }) {
                findings.append(
                    Finding(.providerDiscovered, subject, "its metadata is what a client needs"))
            }
            return findings + faults
        }
    }

    static func code(_ fault: FetchFault) -> FindingCode {
        switch fault {
        case .notAllowed, .unreachable: .providerUnreachable
        case .tls: .providerTLS
        case .timedOut: .providerTimedOut
        case .redirect: .providerRedirect
        case .status: .providerStatus
        case .tooLarge: .providerTooLarge
        case .notJSON: .providerNotJSON
        }
    }

    private static func issuer(
        _ metadata: MetadataDocument, _ issuer: Issuer, _ subject: FindingSubject
    ) -> [Finding] {
        guard let found = metadata.issuer else {
            return [Finding(.providerIssuerMismatch, subject, "the document names no issuer")]
        }
        guard !found.utf8.elementsEqual(issuer.rawValue.utf8) else { return [] }
        return [
            Finding(
                .providerIssuerMismatch, subject,
                "the document says \(quoted(found)): \(IssuerDifference.text(found, declared: issuer.rawValue))"
            )
        ]
    }

    private static func endpoints(
        _ metadata: MetadataDocument, _ subject: FindingSubject
    ) -> [Finding] {
        let needed: [(member: String, missing: FindingCode?)] = [
            ("token_endpoint", .providerTokenEndpointMissing),
            (challengeMember, .providerChallengeEndpointMissing), ("revocation_endpoint", nil),
            ("pushed_authorization_request_endpoint", nil), ("authorization_endpoint", nil),
            ("jwks_uri", nil), ("device_portal_endpoint", nil),
        ]
        return needed.compactMap { member, missing in
            switch metadata.endpoint(member) {
            case .usable: nil
            case .absent: missing.map { Finding($0, subject, "\(member) is not there") }
            case .unusable(let text):
                Finding(.providerEndpointNotHTTPS, subject, "\(member) is \(quoted(text))")
            }
        }
    }

    private static func methods(
        _ metadata: MetadataDocument, _ subject: FindingSubject
    ) -> [Finding] {
        let methods = metadata.names(methodsMember)
        var findings: [Finding] = []
        if !methods.contains("private_key_jwt") {
            let default_ =
                methods == .absent ? ", which stands for client_secret_basic (RFC 8414 §2)" : ""
            findings.append(
                Finding(
                    .providerAuthMethodMissing, subject,
                    "\(methodsMember): \(methods.text)\(default_)"))
        }
        let weak = methods.others(than: strongMethods)
        if !weak.isEmpty {
            findings.append(
                Finding(.providerWeakAuthMethods, subject, "it takes \(quoted(weak)) too"))
        }
        return findings
    }

    private static func algorithms(
        _ metadata: MetadataDocument, _ subject: FindingSubject
    ) -> [Finding] {
        var findings: [Finding] = []
        let signing = metadata.names(algorithmsMember)
        if signing == .absent || signing == .malformed {
            findings.append(
                Finding(.providerAlgsUnnamed, subject, "\(algorithmsMember): \(signing.text)"))
        }
        let weak = signing.others(than: strongAlgorithms)
        if !weak.isEmpty {
            findings.append(
                Finding(
                    .providerWeakAlgs, subject, "assertions may be signed by \(quoted(weak)) too"))
        }
        // Installs have keys on P-256 (R-100-13).
        let dpop = metadata.names(dpopMember)
        if !dpop.contains("ES256") {
            findings.append(
                Finding(.providerDPoPAlgMissing, subject, "\(dpopMember): \(dpop.text)"))
        }
        let pkce = metadata.names(pkceMember)
        if !pkce.contains("S256") {
            findings.append(Finding(.providerPKCEMissing, subject, "\(pkceMember): \(pkce.text)"))
        }
        return findings
    }
}
