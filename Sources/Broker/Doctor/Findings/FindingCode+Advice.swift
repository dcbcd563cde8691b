extension FindingCode {
    /// What to do about it; empty for what is as it should be.
    var advice: String {
        switch self {
        case .databaseReachable, .schemaCurrent, .roleRestricted, .clockAgrees, .keySigns,
            .secretUsable, .gateOpen, .limitsFit:
            ""
        case .databaseMalformedURL:
            "give a libpq URI or keyword list, such as postgresql://host/broker"
        case .databaseUnreachable:
            "start the database, or mend its address, login or network; until then every mint is 503"
        case .databaseReadOnly:
            "name all servers and add target_session_attrs=read-write, so that the primary is found"
        case .databaseNoPrivilege:
            "log in as the owner of the schema or as a member of broker_service; repeat the GRANTs of "
                + "migrations/0003_service_role.sql and later if they are missing"
        case .databaseNotDurable:
            "switch it on: a crash of the server could forget a jti that was handed out"
        case .databaseRefused: "read the message; the database's own log tells more"
        case .schemaMissing, .schemaOutdated:
            "run 'broker migrate' as the owner of the schema"
        case .schemaNewer: "update this program, or use the one of the newer release"
        case .schemaContradicts:
            "restore the migration files of the release; never edit one that was applied"
        case .declarationUnreadable:
            "run 'broker apply' with the declaration again; if that fails, restore the row by hand"
        case .declarationEmpty: "declare tenants and clients with 'broker apply'"
        case .roleTooStrong:
            "let 'broker serve' log in as a member of broker_service and of nothing else, not as an owner or superuser; "
                + "REVOKE whatever else is named"
        case .roleUnused:
            "GRANT broker_service to the login of 'broker serve', so that it need not be a stronger one"
        case .roleMissing:
            "CREATE ROLE broker_service NOLOGIN, then run the GRANTs of migrations/ with psql again"
        case .clockDatabaseDrifts, .clockDatabaseOff:
            "let NTP discipline both machines; beyond 30 s every mint is 503"
        case .clockProviderDrifts, .clockProviderOff:
            "let NTP discipline this machine; if it is right, tell the provider, and meanwhile set backdating "
                + "(at most 10 s) or a longer lifetime"
        case .clockProviderUnknown:
            "ask the provider to send Date (RFC 9110 §6.6.1), and not to have its metadata come from a cache (Age)"
        case .keyNoneActive: "declare one key of the client active"
        case .keyUnusable:
            "mend what is named, or change to another key; where only the service's user may read it, run doctor as that user"
        case .keyWrongAlgorithm: "declare a key for the client's alg, or the alg of its key"
        case .keyAssertionRejected:
            "report this: the broker's own verifier refuses what its signer made"
        case .keyNextUnusable:
            "mend it before it is to sign: activating it as it is would stop every mint of the client"
        case .keyDuplicateKid:
            "give each key a kid of its own; without one, its thumbprint is taken"
        case .keyShared: "give each client a key of its own (FAPI 2.0 §6.8)"
        case .secretUnusable:
            "put the organisation's secret there, readable by the service's user alone; without it 'broker serve' does not start"
        case .gateNoToken: "make one with 'broker token create', or take the gate away"
        case .gateNoCertificates:
            "give tls.client_authority_file or trusted_proxies.client_certificates to serve, or take the gate away"
        case .gateNoNonces:
            "start 'broker serve' once: it makes the secret of the nonces, and no proof passes without it"
        case .gateStaleNonces:
            "look for store.maintained in the log: no replica has rotated the secret of the nonces, which happens daily"
        case .tokenWithoutExpiry, .tokenLongLived:
            "make one that expires within a year with 'broker token create', give it to the backend, and revoke this one"
        case .tokenExpires:
            "make the next one with 'broker token create' and give it to the backend before this one ends"
        case .limitsTight, .limitsBelowSignIn:
            "raise burst in the limits of the declaration; 'broker limits override' helps for a while"
        case .providerDiscovered, .providerUnreachable, .providerTLS, .providerTimedOut,
            .providerRedirect, .providerStatus, .providerTooLarge, .providerNotJSON,
            .providerIssuerMismatch,
            .providerTokenEndpointMissing, .providerChallengeEndpointMissing,
            .providerEndpointNotHTTPS, .providerAuthMethodMissing, .providerAlgMissing,
            .providerAlgsUnnamed, .providerDPoPAlgMissing, .providerPKCEMissing,
            .providerWeakAuthMethods, .providerWeakAlgs, .providerPlainHTTP:
            providerAdvice
        case .jwksListsActiveKey, .jwksUnreachable, .jwksTLS, .jwksTimedOut, .jwksRedirect,
            .jwksStatus, .jwksTooLarge, .jwksNotJSON, .jwksNotHTTPS, .jwksMalformed,
            .jwksPrivateMember, .jwksDuplicateKid, .jwksActiveKeyMissing, .jwksOtherKey,
            .jwksIncomplete, .jwksCachedTooLong, .jwksLoopback:
            keySetAdvice
        case .probeAccepted, .probeRefused, .probeUnclear, .preconditionOwnApp, .preconditionDPoP,
            .preconditionCertificateBinding, .preconditionEnabled, .preconditionRedirectURI,
            .preconditionRedirectURIScheme, .preconditionAuthMethod:
            probeAdvice
        }
    }
}
