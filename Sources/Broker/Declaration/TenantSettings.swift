import JOSE

/// What a tenant's clients share: at present one rate limit, and one that is tried beside it. The same form in a declaration
/// file and in the database.
struct TenantSettings: Hashable, Sendable {
    let limit: LimitSettings?
    /// Decided and told in the log, never refusing.
    let shadow: LimitSettings?

    static let members: Set<String> = ["limits"]

    init(_ object: DocumentObject, faults: inout DocumentFaults) {
        let limits = object.value("limits").flatMap {
            DocumentObject(
                $0, path: object.child("limits"), allowed: ["tenant", "shadow"], faults: &faults)
        }
        let shadows = limits.flatMap { limits in
            limits.value("shadow").flatMap {
                DocumentObject(
                    $0, path: limits.child("shadow"), allowed: ["tenant"], faults: &faults)
            }
        }
        limit = LimitSettings("tenant", in: limits, faults: &faults)
        shadow = LimitSettings("tenant", in: shadows, faults: &faults)
    }

    func writeMembers(to json: inout JSONWriter) {
        guard limit != nil || shadow != nil else { return }
        json.name("limits")
        json.object {
            if let limit {
                $0.name("tenant")
                limit.write(to: &$0)
            }
            LimitSettings.writeShadows([("tenant", shadow)], to: &$0)
        }
    }
}
