import AssertionMint
import JOSE

/// The limits that a log is run against: a file of the declaration's form, of which only tenants, clients and limits are
/// looked at. So a whole declaration does, and so does one with nothing but limits in it.
struct ReplayPolicy: Sendable {
    struct Client: Sendable {
        let id: ClientId
        /// Place in `tenants`.
        let tenant: Int
        let install: RatePolicy
        let client: RatePolicy
    }

    private(set) var clients: [Client] = []
    /// `nil` where a tenant has no limit.
    private(set) var tenants: [RatePolicy?] = []
    private var places: [ClientId: Int32] = [:]

    /// The client's place in `clients`; `nil` when the file does not name it.
    func place(of clientId: ClientId) -> Int32? { places[clientId] }

    /// - Parameter bytes: JSON5.
    /// - Throws: `DocumentRefused` with every fault.
    init(_ bytes: [UInt8]) throws(DocumentRefused) {
        var faults = DocumentFaults(in: bytes)
        let document: JSONValue
        do {
            document = try JSONValue(parsing: bytes, dialect: .json5)
        } catch {
            throw DocumentRefused(faults: [
                DocumentFault(
                    path: "the file", line: error.line, column: error.column,
                    message: error.reason.rawValue)
            ])
        }
        if let top = DocumentObject(document, path: "", allowed: ["tenants"], faults: &faults),
            let value = top.required(
                "tenants", "must be an object of tenants by name", &faults, { $0 }),
            let list = DocumentObject(value, path: "tenants", allowed: nil, faults: &faults)
        {
            for member in list.members {
                readTenant(member, path: list.child(member.name), &faults)
            }
        }
        guard faults.isEmpty else { throw DocumentRefused(faults: faults.list) }
    }

    private mutating func readTenant(
        _ member: JSONMember, path: String, _ faults: inout DocumentFaults
    ) {
        guard
            let object = DocumentObject(
                member.value, path: path, allowed: TenantSettings.members.union(["clients"]),
                faults: &faults)
        else { return }
        let settings = TenantSettings(object, faults: &faults)
        tenants.append(settings.limit?.policy(named: LimitScope.tenant.rawValue))
        guard
            let value = object.required(
                "clients", "must be an object of clients by client_id", &faults, { $0 }),
            let list = DocumentObject(
                value, path: object.child("clients"), allowed: nil, faults: &faults)
        else { return }
        for member in list.members { readClient(member, path: list.child(member.name), &faults) }
    }

    private mutating func readClient(
        _ member: JSONMember, path: String, _ faults: inout DocumentFaults
    ) {
        guard let id = ClientId(member.name) else {
            faults.add(
                "a client_id is 1 to 128 printable ASCII characters without blanks", path: path,
                offset: member.offset)
            return
        }
        guard
            let object = DocumentObject(
                member.value, path: path, allowed: ClientSettings.members.union(["keys"]),
                faults: &faults)
        else { return }
        let limits = ClientLimits(object, faults: &faults)
        guard places.updateValue(Int32(clients.count), forKey: id) == nil else {
            faults.add("this client_id is declared twice", path: path, offset: member.offset)
            return
        }
        clients.append(
            Client(
                id: id, tenant: tenants.count - 1,
                install: limits.install.policy(named: LimitScope.install.rawValue),
                client: limits.client.policy(named: LimitScope.client.rawValue)))
    }
}
