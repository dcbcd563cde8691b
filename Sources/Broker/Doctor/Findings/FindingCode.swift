/// What a finding says, in a word that never changes its meaning: scripts and runbooks go by it. docs/doctor.md lists them
/// all, and a test holds the two together.
enum FindingCode: String, Sendable, CaseIterable {
    // The database
    case databaseReachable = "database.reachable"
    case databaseMalformedURL = "database.malformed_url"
    case databaseUnreachable = "database.unreachable"
    case databaseReadOnly = "database.read_only"
    case databaseNoPrivilege = "database.no_privilege"
    case databaseNotDurable = "database.not_durable"
    case databaseRefused = "database.refused"
    case schemaCurrent = "schema.current"
    case schemaMissing = "schema.missing"
    case schemaOutdated = "schema.outdated"
    case schemaNewer = "schema.newer"
    case schemaContradicts = "schema.contradicts"
    case declarationUnreadable = "declaration.unreadable"
    case declarationEmpty = "declaration.empty"
    case roleRestricted = "role.restricted"
    case roleTooStrong = "role.too_strong"
    case roleUnused = "role.unused"
    case roleMissing = "role.missing"

    // Clocks
    case clockAgrees = "clock.agrees"
    case clockDatabaseDrifts = "clock.database_drifts"
    case clockDatabaseOff = "clock.database_off"
    case clockProviderDrifts = "clock.provider_drifts"
    case clockProviderOff = "clock.provider_off"
    case clockProviderUnknown = "clock.provider_unknown"

    // Keys
    case keySigns = "key.signs"
    case keyNoneActive = "key.none_active"
    case keyUnusable = "key.unusable"
    case keyWrongAlgorithm = "key.wrong_algorithm"
    case keyAssertionRejected = "key.assertion_rejected"
    case keyNextUnusable = "key.next_unusable"
    case keyDuplicateKid = "key.duplicate_kid"
    case keyShared = "key.shared"

    // Secrets of transport tokens
    case secretUsable = "secret.usable"
    case secretUnusable = "secret.unusable"

    // Gates and tokens
    case gateOpen = "gate.open"
    case gateNoToken = "gate.no_token"
    case gateNoCertificates = "gate.no_certificates"
    case gateNoNonces = "gate.no_nonces"
    case gateStaleNonces = "gate.stale_nonces"
    case tokenWithoutExpiry = "token.without_expiry"
    case tokenLongLived = "token.long_lived"
    case tokenExpires = "token.expires"

    // Limits
    case limitsFit = "limits.fit"
    case limitsTight = "limits.tight"
    case limitsBelowSignIn = "limits.below_sign_in"

    // A provider's metadata
    case providerDiscovered = "provider.discovered"
    case providerUnreachable = "provider.unreachable"
    case providerTLS = "provider.tls"
    case providerTimedOut = "provider.timed_out"
    case providerRedirect = "provider.redirect"
    case providerStatus = "provider.status"
    case providerTooLarge = "provider.too_large"
    case providerNotJSON = "provider.not_json"
    case providerIssuerMismatch = "provider.issuer_mismatch"
    case providerTokenEndpointMissing = "provider.token_endpoint_missing"
    case providerChallengeEndpointMissing = "provider.challenge_endpoint_missing"
    case providerEndpointNotHTTPS = "provider.endpoint_not_https"
    case providerAuthMethodMissing = "provider.auth_method_missing"
    case providerAlgMissing = "provider.alg_missing"
    case providerAlgsUnnamed = "provider.algs_unnamed"
    case providerDPoPAlgMissing = "provider.dpop_alg_missing"
    case providerPKCEMissing = "provider.pkce_missing"
    case providerWeakAuthMethods = "provider.weak_auth_methods"
    case providerWeakAlgs = "provider.weak_algs"
    case providerPlainHTTP = "provider.plain_http"

    // A client's key set, as it is published
    case jwksListsActiveKey = "jwks.lists_active_key"
    case jwksUnreachable = "jwks.unreachable"
    case jwksTLS = "jwks.tls"
    case jwksTimedOut = "jwks.timed_out"
    case jwksRedirect = "jwks.redirect"
    case jwksStatus = "jwks.status"
    case jwksTooLarge = "jwks.too_large"
    case jwksNotJSON = "jwks.not_json"
    case jwksNotHTTPS = "jwks.not_https"
    case jwksMalformed = "jwks.malformed"
    case jwksPrivateMember = "jwks.private_member"
    case jwksDuplicateKid = "jwks.duplicate_kid"
    case jwksActiveKeyMissing = "jwks.active_key_missing"
    case jwksOtherKey = "jwks.other_key"
    case jwksIncomplete = "jwks.incomplete"
    case jwksCachedTooLong = "jwks.cached_too_long"
    case jwksLoopback = "jwks.loopback"

    // What a provider answers
    case probeAccepted = "probe.accepted"
    case probeRefused = "probe.refused"
    case probeUnclear = "probe.unclear"

    // Preconditions of in-app sign-in at the provider, by the provider's own codes (flows §3.2)
    case preconditionOwnApp = "precondition.first_party_requires_own_app"
    case preconditionDPoP = "precondition.first_party_requires_dpop"
    case preconditionCertificateBinding = "precondition.first_party_excludes_certificate_binding"
    case preconditionEnabled = "precondition.first_party_not_enabled"
    case preconditionRedirectURI = "precondition.redirect_uri_required"
    case preconditionRedirectURIScheme = "precondition.redirect_uri_scheme"
    case preconditionAuthMethod = "precondition.client_auth_method"
}

extension FindingCode {
    /// The same for every finding of the code.
    var level: FindingLevel {
        switch self {
        case .databaseReachable, .schemaCurrent, .roleRestricted, .clockAgrees, .keySigns,
            .secretUsable, .gateOpen, .limitsFit, .providerDiscovered, .jwksListsActiveKey,
            .probeAccepted:
            .ok
        case .schemaNewer, .declarationEmpty, .roleTooStrong, .roleUnused, .roleMissing,
            .clockDatabaseDrifts, .clockProviderDrifts, .clockProviderUnknown, .keyNextUnusable,
            .keyShared, .gateNoNonces, .gateStaleNonces, .tokenWithoutExpiry, .tokenLongLived,
            .tokenExpires, .limitsTight, .providerAlgsUnnamed, .providerWeakAuthMethods,
            .providerWeakAlgs, .providerPlainHTTP, .jwksIncomplete, .jwksCachedTooLong,
            .jwksLoopback, .probeUnclear:
            .warning
        case .databaseMalformedURL, .databaseUnreachable, .databaseReadOnly, .databaseNoPrivilege,
            .databaseNotDurable, .databaseRefused, .schemaMissing, .schemaOutdated,
            .schemaContradicts, .declarationUnreadable, .clockDatabaseOff, .clockProviderOff,
            .keyNoneActive, .keyUnusable, .keyWrongAlgorithm, .keyAssertionRejected,
            .keyDuplicateKid, .secretUnusable, .gateNoToken, .gateNoCertificates,
            .limitsBelowSignIn,
            .providerUnreachable, .providerTLS, .providerTimedOut, .providerRedirect,
            .providerStatus, .providerTooLarge, .providerNotJSON, .providerIssuerMismatch,
            .providerTokenEndpointMissing, .providerChallengeEndpointMissing,
            .providerEndpointNotHTTPS, .providerAuthMethodMissing, .providerAlgMissing,
            .providerDPoPAlgMissing, .providerPKCEMissing, .jwksUnreachable, .jwksTLS,
            .jwksTimedOut, .jwksRedirect, .jwksStatus, .jwksTooLarge, .jwksNotJSON,
            .jwksNotHTTPS, .jwksMalformed, .jwksPrivateMember, .jwksDuplicateKid,
            .jwksActiveKeyMissing, .jwksOtherKey, .probeRefused, .preconditionOwnApp,
            .preconditionDPoP, .preconditionCertificateBinding, .preconditionEnabled,
            .preconditionRedirectURI, .preconditionRedirectURIScheme, .preconditionAuthMethod:
            .fault
        }
    }
}
