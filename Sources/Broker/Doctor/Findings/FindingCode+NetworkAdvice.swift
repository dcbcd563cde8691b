/// Advice about what is fetched and asked over the network. Codes of other groups have none here.
extension FindingCode {
    var providerAdvice: String {
        switch self {
        case .providerUnreachable:
            "mend the issuer in the declaration, name resolution or the way there; the URL must be https"
        case .providerTLS:
            "name the provider's authority with --ca-file if it is a private one; else its certificate or TLS must be mended"
        case .providerTimedOut:
            "ask whoever runs the provider: apps give up as well; --timeout lets doctor wait longer"
        case .providerRedirect:
            "declare the issuer that answers by itself; clients follow no redirect"
        case .providerStatus:
            "check the issuer in the declaration: metadata is looked for at its well-known places"
        case .providerTooLarge, .providerNotJSON:
            "check what answers there: a portal, a firewall's page or another service"
        case .providerIssuerMismatch:
            "declare the issuer exactly as the provider's document has it: aud must be the same, byte for byte"
        case .providerTokenEndpointMissing, .providerEndpointNotHTTPS:
            "the provider must publish it as an https URL (FAPI 2.0 §5.2.1)"
        case .providerChallengeEndpointMissing:
            "in-app sign-in is not possible there: have first-party apps enabled at the provider"
        case .providerAuthMethodMissing:
            "have private_key_jwt enabled at the provider; without it no assertion is looked at"
        case .providerAlgMissing:
            "have the algorithm enabled at the provider, or change the client's alg and key"
        case .providerAlgsUnnamed:
            "ask the provider to publish it (RFC 8414 §2); until then nobody knows whether it takes the client's alg"
        case .providerDPoPAlgMissing:
            "have DPoP with ES256 enabled at the provider; the proofs of apps are ES256"
        case .providerPKCEMissing: "have PKCE with S256 enabled at the provider (FAPI 2.0 §5.3.2.2)"
        case .providerWeakAuthMethods:
            "have them disabled: a FAPI 2.0 provider takes private_key_jwt and mTLS only (§5.3.2.1)"
        case .providerWeakAlgs:
            "have them disabled: FAPI 2.0 allows ES256, PS256 and Ed25519 (§5.4.1)"
        case .providerPlainHTTP: "use it for development only"
        default: ""
        }
    }

    var keySetAdvice: String {
        switch self {
        case .jwksUnreachable, .jwksTimedOut:
            "start 'broker serve', and mend the name, the proxy or the firewall in front of it; the provider cannot fetch it either"
        case .jwksTLS:
            "use a certificate that the provider trusts; name a private authority with --ca-file"
        case .jwksRedirect:
            "register the URL that answers by itself; many providers follow no redirect"
        case .jwksStatus:
            "check public_url, the proxy in front, and jwks_uri in the declaration; 421 means host_names"
        case .jwksTooLarge, .jwksNotJSON, .jwksMalformed:
            "check what answers there: it must be the broker's key set, unchanged"
        case .jwksNotHTTPS: "set public_url, or jwks_uri in the declaration, to an https URL"
        case .jwksPrivateMember:
            "take it down at once and change that key with --keys-now: its private part is public"
        case .jwksDuplicateKid:
            "give each key a kid of its own; with one kid twice a provider may take the wrong key"
        case .jwksActiveKeyMissing, .jwksOtherKey:
            "every assertion is refused: let the broker's own key set be served there, and no stale or edited copy"
        case .jwksIncomplete:
            "do not activate a key before it is listed: purge the cache in front of the broker"
        case .jwksCachedTooLong:
            "pass Cache-Control on as the broker sends it, or wait that long before each change of keys"
        case .jwksLoopback:
            "set public_url to the name by which the provider reaches the broker; for development this is fine"
        default: ""
        }
    }

    var probeAdvice: String {
        switch self {
        case .probeRefused:
            "mend what is named as most likely, then run this again; the provider's own log knows the exact reason"
        case .probeUnclear:
            "read what it answered; only invalid_grant and invalid_client tell whether an assertion is accepted"
        case .preconditionOwnApp: "register the tenant's own app at the provider (flows §3.2)"
        case .preconditionDPoP:
            "require DPoP-bound tokens for the application at the provider (flows §3.2)"
        case .preconditionCertificateBinding:
            "switch certificate-bound tokens off for the application at the provider (flows §3.2)"
        case .preconditionEnabled:
            "set first_party_challenge_enabled for the application at the provider (flows §3.2)"
        case .preconditionRedirectURI:
            "register a redirect URI for the application, though it is never used (flows §3.2)"
        case .preconditionRedirectURIScheme:
            "register an https or loopback redirect URI for the application (flows §3.2)"
        case .preconditionAuthMethod:
            "register the application with token_endpoint_auth_method private_key_jwt (flows §3.2)"
        default: ""
        }
    }
}
