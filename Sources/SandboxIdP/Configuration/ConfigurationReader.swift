import JOSE
import SocketServer

/// Turns the file's JSON into a configuration and notes every fault on the way.
struct ConfigurationReader {
    private let collector: FaultCollector

    init(_ collector: FaultCollector) {
        self.collector = collector
    }

    func read(_ json: JSONValue) -> SandboxConfiguration? {
        let file = ConfigurationObject(
            json, path: "",
            known: [
                "listen", "issuer", "tls", "ca_file", "organisation", "clients", "resources",
                "limits", "options", "attestation",
            ], collector: collector)
        let uris = file.text("issuer").flatMap { text in issuer(text, file) }
        let clients = clients(file)
        let server = server(file)
        let resources = resources(file)
        let caFile = file.optionalText("ca_file")
        if let caFile, !FileReader.isReadable(caFile) {
            file.fault("ca_file", "cannot be read")
        }
        var settings = ProviderSettings()
        settings.read(file)
        let attestation = attestation(file)
        guard let uris, let server else { return nil }
        var provider = ProviderConfiguration(uris: uris, clients: clients)
        provider.organisation = file.optionalText("organisation") ?? provider.organisation
        provider.resources += resources
        provider.lifetimes = settings.lifetimes
        provider.limits = settings.limits
        provider.options = settings.options
        provider.attestation = attestation
        return SandboxConfiguration(server: server, caFile: caFile, provider: provider)
    }

    private func issuer(_ text: String, _ file: ConfigurationObject) -> EndpointURIs? {
        guard let uris = EndpointURIs(issuer: text), text.hasPrefix("https://") else {
            file.fault("issuer", "must be an https URL in normal form, without query and fragment")
            return nil
        }
        return uris
    }

    private func server(_ file: ConfigurationObject) -> HTTPServerConfiguration? {
        let listen = file.object("listen", known: ["address", "port"])
        let tls = file.object("tls", known: ["certificate_file", "key_file"])
        let address = listen.optionalText("address") ?? "127.0.0.1"
        if RemoteAddress(address) == nil {
            listen.fault("address", "must be an IPv4 or IPv6 address")
        }
        let port = listen.integer("port", in: 0...65_535)
        if !listen.has("port") { listen.fault("port", "is missing") }
        let certificate = tls.text("certificate_file")
        let key = tls.text("key_file")
        for (name, path) in [("certificate_file", certificate), ("key_file", key)] {
            if let path, !FileReader.isReadable(path) { tls.fault(name, "cannot be read") }
        }
        guard let port, let certificate, let key else { return nil }
        return HTTPServerConfiguration(
            address: address, port: UInt16(port),
            tls: TLSConfiguration(certificateChainFile: certificate, privateKeyFile: key))
    }

    private func resources(_ file: ConfigurationObject) -> [String] {
        let resources = file.texts("resources") ?? []
        for resource in resources where HTTPTargetURI(resource) == nil {
            file.fault("resources", "must be a list of URLs")
        }
        return resources
    }

    private func attestation(_ file: ConfigurationObject) -> AttestationPolicy {
        let object = file.object("attestation", known: ["mode", "key"])
        var policy = AttestationPolicy()
        if let text = object.optionalText("mode") {
            if let mode = AttestationPolicy.Mode(rawValue: text) {
                policy.mode = mode
            } else {
                object.fault("mode", "must be off, audit or enforce")
            }
        }
        if let member = object.member("key") {
            policy.key = (try? PublicJWK(member)).flatMap { try? PublicKey($0) }
            if policy.key == nil { object.fault("key", "must be a public JWK") }
        } else if policy.mode != .off {
            object.fault("key", "is missing: evidence is checked with it")
        }
        return policy
    }

    private func clients(_ file: ConfigurationObject) -> [Client] {
        let objects = file.objects(
            "clients",
            known: [
                "client_id", "jwks_uri", "redirect_uris", "scopes", "token_endpoint_auth_method",
                "first_party_challenge_enabled", "own_app_registered", "dpop_bound_access_tokens",
                "tls_client_certificate_bound_access_tokens",
            ])
        var seen: Set<String> = []
        return objects.compactMap { object in
            guard let client = client(object) else { return nil }
            if !seen.insert(client.clientId).inserted {
                object.fault("client_id", "is declared twice")
            }
            return client
        }
    }

    private func client(_ object: ConfigurationObject) -> Client? {
        let clientId = object.text("client_id")
        let jwksURI = object.text("jwks_uri")
        if let jwksURI, HTTPTargetURI(jwksURI)?.isSecure != true {
            object.fault("jwks_uri", "must be an https URL")
        }
        let redirectURIs = object.texts("redirect_uris") ?? []
        let scopes = object.texts("scopes") ?? Client.defaultScopes
        for scope in scopes where Scope(scope)?.values.count != 1 {
            object.fault("scopes", "must be a list of scope tokens")
        }
        let method =
            object.optionalText("token_endpoint_auth_method") ?? Client.privateKeyJWT
        guard let clientId, let jwksURI else { return nil }
        return Client(
            clientId: clientId, jwksURI: jwksURI, redirectURIs: redirectURIs, scopes: scopes,
            tokenEndpointAuthMethod: method,
            firstPartyChallengeEnabled: object.flag(
                "first_party_challenge_enabled", otherwise: false),
            ownAppRegistered: object.flag("own_app_registered", otherwise: true),
            dpopBoundAccessTokens: object.flag("dpop_bound_access_tokens", otherwise: true),
            certificateBoundAccessTokens: object.flag(
                "tls_client_certificate_bound_access_tokens", otherwise: false))
    }
}
