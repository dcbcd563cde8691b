import JOSE
import SocketServer

/// Reads the member `trusted_proxies`: whose word about the client counts.
enum ProxySettings {
    static let members: Set<String> = ["addresses", "field"]

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
            includesUnixPeers: addresses.contains { $0.range == nil }, field: field)
        checkFit(proxies, listen, object, &faults)
        return proxies
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
