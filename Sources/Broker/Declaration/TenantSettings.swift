import JOSE

/// What a tenant's clients share: at present one rate limit. The same form in a declaration file and in the database.
struct TenantSettings: Hashable, Sendable {
    let limit: LimitSettings?

    static let members: Set<String> = ["limits"]

    init(_ object: DocumentObject, faults: inout DocumentFaults) {
        guard let value = object.value("limits"),
            let limits = DocumentObject(
                value, path: object.child("limits"), allowed: ["tenant"], faults: &faults)
        else {
            limit = nil
            return
        }
        limit = limits.value("tenant").flatMap {
            LimitSettings($0, path: limits.child("tenant"), faults: &faults)
        }
    }

    func writeMembers(to json: inout JSONWriter) {
        guard let limit else { return }
        json.name("limits")
        json.object {
            $0.name("tenant")
            limit.write(to: &$0)
        }
    }
}
