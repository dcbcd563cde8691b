import JOSE
import SocketServer

/// Reads the member `trusted_proxies`: whose word about the client counts.
enum ProxySettings {
    static let members: Set<String> = ["addresses", "field", "client_certificates"]

    static func read(
        _ top: DocumentObject, listen: ListeningEndpoint?, _ faults: inout DocumentFaults
    ) -> TrustedProxies? {
        guard let value = top.value("trusted_proxies"),
            let object = DocumentObject(
                value, path: "trusted_proxies", allowed: members, faults: &faults)
        else { return nil }
        let addresses =
            object.required("addresses", "must be a list of CIDR ranges or \"unix\"", &faults) {
                $0
            }
            .flatMap { _ in
                object.list(
                    "addresses",
                    of:
                        "a CIDR range such as \"10.0.0.0/8\", without bits behind its prefix, or \"unix\"",
                    &faults
                ) { text in
                    text == "unix" ? Trusted.unix : AddressRange(text).map(Trusted.range)
                }
            }
        let field = object.required(
            "field",
            "must be \"forwarded\" or \"x_forwarded_for\": the one field that the proxies write",
            &faults
        ) { $0.string.flatMap(TrustedProxies.Field.init(rawValue:)) }
        guard let addresses, let field else { return nil }
        let proxies = TrustedProxies(
            ranges: addresses.compactMap(\.range),
            includesUnixPeers: addresses.contains { $0.range == nil }, field: field,
            certificates: certificates(object, &faults))
        checkFit(proxies, listen, object, &faults)
        return proxies
    }

    /// Reads the member `client_certificates`: where the proxies hand on a client's certificate.
    private static func certificates(
        _ proxies: DocumentObject, _ faults: inout DocumentFaults
    ) -> ForwardedCertificates? {
        guard let value = proxies.value("client_certificates"),
            let object = DocumentObject(
                value, path: "trusted_proxies.client_certificates",
                allowed: ["form", "field", "authority_file", "revocation_file"], faults: &faults)
        else { return nil }
        let expectation = "must be a PEM file's path"
        let authority = object.required(
            "authority_file", expectation, &faults, ServeConfiguration.path)
        let revocation = object.optional(
            "revocation_file", expectation, &faults, ServeConfiguration.path)
        let name = object.optional(
            "field", "must be a field's name in lower case", &faults
        ) { value in value.string.flatMap { isFieldName($0) ? $0 : nil } }
        let form = object.required(
            "form", "must be \"client_cert\" (RFC 9440) or \"escaped_pem\" (nginx)", &faults
        ) { value in
            value.string.flatMap { ["client_cert", "escaped_pem"].contains($0) ? $0 : nil }
        }
        if form == "escaped_pem", name == nil {
            faults.add(
                "is missing; must be the field's name in lower case", path: object.child("field"),
                offset: object.offset)
        }
        if form == "client_cert", name != nil {
            faults.add(
                "does not go with client_cert, whose fields have fixed names",
                path: object.child("field"), offset: object.value("field")?.offset ?? object.offset)
        }
        guard let authority, let form else { return nil }
        return ForwardedCertificates(
            form: form == "client_cert" ? .clientCert : .escapedPEM(field: (name ?? nil) ?? ""),
            authorityFile: authority, revocationFile: revocation ?? nil)
    }

    /// Letters, digits and hyphens: what proxies are set up with.
    private static func isFieldName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { octet in
                (0x61...0x7A).contains(octet) || (0x30...0x39).contains(octet) || octet == 0x2D
            }
    }

    private enum Trusted {
        case unix
        case range(AddressRange)

        var range: AddressRange? {
            if case .range(let range) = self { range } else { nil }
        }
    }

    /// A proxy that can never connect is a mistake, and one that everybody can pass for is an open door.
    private static func checkFit(
        _ proxies: TrustedProxies, _ listen: ListeningEndpoint?, _ object: DocumentObject,
        _ faults: inout DocumentFaults
    ) {
        let offset = object.value("addresses")?.offset ?? object.offset
        switch listen {
        case .tcp where proxies.includesUnixPeers:
            faults.add(
                "\"unix\" does not go with listening on an address",
                path: "trusted_proxies.addresses",
                offset: offset)
        case .unix where !proxies.includesUnixPeers:
            faults.add(
                "a peer on a Unix socket has no address; trust \"unix\"",
                path: "trusted_proxies.addresses", offset: offset)
        case .unix(_, let mode) where mode.admitsEveryone:
            faults.add(
                "every process of this machine could pass for the proxy; take listen.mode \"0660\"",
                path: "trusted_proxies.addresses", offset: offset)
        case .tcp, .unix, .inherited, nil: break
        }
    }
}
