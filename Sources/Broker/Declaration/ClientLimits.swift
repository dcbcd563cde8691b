import JOSE

/// The limits of one client: on each of its installs, and on all of them together.
struct ClientLimits: Hashable, Sendable {
    let install: LimitSettings
    let client: LimitSettings

    /// Reads the member `limits` of a client; what is not given has its default.
    init(_ client: DocumentObject, faults: inout DocumentFaults) {
        let limits = client.value("limits").flatMap {
            DocumentObject(
                $0, path: client.child("limits"), allowed: ["install", "client"], faults: &faults)
        }
        func limit(_ name: String) -> LimitSettings? {
            guard let limits, let value = limits.value(name) else { return nil }
            return LimitSettings(value, path: limits.child(name), faults: &faults)
        }
        install = limit("install") ?? .defaultInstall
        self.client = limit("client") ?? .defaultClient
    }

    /// Writes the value of the member `limits`.
    func write(to json: inout JSONWriter) {
        json.object {
            $0.name("install")
            install.write(to: &$0)
            $0.name("client")
            client.write(to: &$0)
        }
    }
}
