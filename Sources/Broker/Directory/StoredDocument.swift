import JOSE

/// Reads what the broker itself once wrote into the database, as strictly as a file: a database answer is input too.
enum StoredDocument {
    /// The settings of a client, or the faults in them.
    static func clientSettings(_ text: String) throws(DocumentRefused) -> ClientSettings {
        try read(text, allowed: ClientSettings.members) { ClientSettings($0, faults: &$1) }
    }

    /// The settings of a tenant, or the faults in them.
    static func tenantSettings(_ text: String) throws(DocumentRefused) -> TenantSettings {
        try read(text, allowed: TenantSettings.members) { TenantSettings($0, faults: &$1) }
    }

    /// A public key with its key id.
    static func publicJWK(_ text: String, kid: String) throws(DocumentRefused) -> PublicJWK {
        do {
            var key = try PublicJWK(try JSONValue(parsing: Array(text.utf8)))
            key.kid = kid
            return key
        } catch {
            throw DocumentRefused(faults: [
                DocumentFault(
                    path: "public_jwk", line: 1, column: 1, message: "is no public key (\(error))")
            ])
        }
    }

    private static func read<Value>(
        _ text: String, allowed: Set<String>,
        _ make: (DocumentObject, inout DocumentFaults) -> Value?
    ) throws(DocumentRefused) -> Value {
        let bytes = Array(text.utf8)
        var faults = DocumentFaults(in: bytes)
        let document: JSONValue
        do {
            document = try JSONValue(parsing: bytes)
        } catch {
            throw DocumentRefused(faults: [
                DocumentFault(
                    path: "settings", line: error.line, column: error.column,
                    message: error.reason.rawValue)
            ])
        }
        guard
            let object = DocumentObject(
                document, path: "settings", allowed: allowed, faults: &faults),
            let value = make(object, &faults), faults.isEmpty
        else { throw DocumentRefused(faults: faults.list) }
        return value
    }
}
