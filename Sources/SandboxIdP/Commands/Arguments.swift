/// What the command line asks for.
enum Arguments: Equatable, Sendable {
    case help
    case serve(configFile: String)

    /// Reads the words after the program's name.
    init(_ words: [String]) throws(UsageError) {
        if words.contains("--help") || words.contains("-h") {
            self = .help
            return
        }
        guard let command = words.first else { throw UsageError(reason: "no command given") }
        guard command == "serve" else { throw UsageError(reason: "unknown command") }
        guard words.count == 3, words[1] == "--config" else {
            throw UsageError(reason: "serve takes exactly --config FILE")
        }
        self = .serve(configFile: words[2])
    }

    static let helpText = """
        usage: sandbox-idp serve --config FILE

        A strict identity provider for development and tests; never part of a deployment. It keeps
        everything in memory and makes a new signing key at each start.

        FILE is JSON (comments allowed):
          listen    {"address": "127.0.0.1", "port": 8443}
          issuer    the https URL under which clients reach it
          tls       {"certificate_file": PEM, "key_file": PEM}
          ca_file   PEM of the authorities that sign the servers of the clients' jwks_uri
          clients   [{"client_id", "jwks_uri", "redirect_uris", "first_party_challenge_enabled",
                      "scopes", "token_endpoint_auth_method", "own_app_registered",
                      "dpop_bound_access_tokens", "tls_client_certificate_bound_access_tokens"}]
          resources further URLs a client may name as resource; the demo API always is one
          organisation  the name shown on the device
          options   {"rotate_refresh_tokens", "demand_nonce_at_start", "session_lifetime",
                     "access_token_lifetime", "refresh_token_idle_lifetime",
                     "refresh_token_lifetime", "face_keys_available",
                     "face_keys_tenant_scope_allowed"}; lifetimes in seconds
          attestation  {"mode": "off" | "audit" | "enforce", "key": public JWK}: what is done about the
                    app_attestation of a start; evidence is a JWS of type sandbox-attestation+jwt by
                    that key, with the claims challenge (the start's nonce) and iat
          limits    {"starts_per_email_hour", "starts_per_minute", "requests_per_address_minute"}

        Standard output gets one line of JSON when it is ready; standard error gets one for each
        request, and one for each application that could be used without a genuine app. SIGTERM or SIGINT ends it: requests in flight are answered, then it exits with 0.

        exit status: 0 ended as told, 1 cannot start, 2 wrong usage
        """
}

/// A command line that says nothing we know.
struct UsageError: Error, Equatable, Sendable {
    let reason: String
}
