import JOSE

/// The limits of one client: on each of its installs, and on all of them together; and those that are tried beside them.
struct ClientLimits: Hashable, Sendable {
    let install: LimitSettings
    let client: LimitSettings
    /// Decided and told in the log, never refusing; `nil`: none is tried.
    let installShadow: LimitSettings?
    let clientShadow: LimitSettings?

    /// Reads the member `limits` of a client; what is not given has its default.
    init(_ client: DocumentObject, faults: inout DocumentFaults) {
        let limits = client.value("limits").flatMap {
            DocumentObject(
                $0, path: client.child("limits"), allowed: ["install", "client", "shadow"],
                faults: &faults)
        }
        let shadow = limits.flatMap { limits in
            limits.value("shadow").flatMap {
                DocumentObject(
                    $0, path: limits.child("shadow"), allowed: ["install", "client"],
                    faults: &faults)
            }
        }
        install = LimitSettings("install", in: limits, faults: &faults) ?? .defaultInstall
        self.client = LimitSettings("client", in: limits, faults: &faults) ?? .defaultClient
        installShadow = LimitSettings("install", in: shadow, faults: &faults)
        clientShadow = LimitSettings("client", in: shadow, faults: &faults)
    }

    /// Writes the value of the member `limits`.
    func write(to json: inout JSONWriter) {
        json.object {
            $0.name("install")
            install.write(to: &$0)
            $0.name("client")
            client.write(to: &$0)
            LimitSettings.writeShadows(
                [("install", installShadow), ("client", clientShadow)], to: &$0)
        }
    }
}
