import AssertionMint
import JOSE

/// Reads a declaration file (JSON5) as a whole: either all of it holds, or every fault is named with its place.
struct DeclarationReader {
    /// Loads the key a URI names, so that a file with an unusable key is refused before anything changes.
    typealias KeyLoader = (String) throws(KeyError) -> PublicJWK
    /// The same for the shared secret a URI names.
    typealias SecretCheck = (String) throws(SharedSecretError) -> Void

    private let loadKey: KeyLoader
    private let checkSecret: SecretCheck
    private var faults: DocumentFaults
    private var clientIds: Set<ClientId> = []

    /// - Throws: `DocumentRefused` with every fault.
    static func read(
        _ bytes: [UInt8],
        loadKey: @escaping KeyLoader = { (uri) throws(KeyError) in
            try PrivateKey.load(uri: uri).publicJWK
        },
        checkSecret: @escaping SecretCheck = { (uri) throws(SharedSecretError) in
            _ = try SharedSecret.load(uri: uri)
        }
    ) throws(DocumentRefused) -> Declaration {
        var reader = DeclarationReader(
            loadKey: loadKey, checkSecret: checkSecret, faults: DocumentFaults(in: bytes))
        return try reader.read(bytes)
    }

    static let noPathSegment =
        "a client_id may not be . or .., nor have one between / or \\: no URL could name its key set"

    private init(
        loadKey: @escaping KeyLoader, checkSecret: @escaping SecretCheck, faults: DocumentFaults
    ) {
        self.loadKey = loadKey
        self.checkSecret = checkSecret
        self.faults = faults
    }

    private mutating func read(_ bytes: [UInt8]) throws(DocumentRefused) -> Declaration {
        let document: JSONValue
        do {
            document = try JSONValue(parsing: bytes, dialect: .json5)
        } catch {
            let fault = DocumentFault(
                path: "the file", line: error.line, column: error.column,
                message: error.reason.rawValue)
            throw DocumentRefused(faults: [fault])
        }
        let tenants = readTenants(document)
        guard faults.isEmpty else { throw DocumentRefused(faults: faults.list) }
        return Declaration(tenants: tenants)
    }

    private mutating func readTenants(_ document: JSONValue) -> [Declaration.Tenant] {
        guard
            let top = DocumentObject(document, path: "", allowed: ["tenants"], faults: &faults),
            let value = top.required(
                "tenants", "must be an object of tenants by name", &faults, { $0 }),
            let object = DocumentObject(value, path: "tenants", allowed: nil, faults: &faults)
        else { return [] }
        return object.members.compactMap { readTenant($0, path: object.child($0.name)) }
    }

    private mutating func readTenant(_ member: JSONMember, path: String) -> Declaration.Tenant? {
        guard let id = TenantId(member.name) else {
            faults.add(
                "a tenant's name is 1 to 64 of a-z A-Z 0-9 . _ -", path: path, offset: member.offset
            )
            return nil
        }
        guard
            let object = DocumentObject(
                member.value, path: path, allowed: TenantSettings.members.union(["clients"]),
                faults: &faults)
        else { return nil }
        let settings = TenantSettings(object, faults: &faults)
        var clients: [Declaration.Client] = []
        if let value = object.required(
            "clients", "must be an object of clients by client_id", &faults, { $0 }),
            let list = DocumentObject(
                value, path: object.child("clients"), allowed: nil, faults: &faults)
        {
            clients = list.members.compactMap { readClient($0, path: list.child($0.name)) }
        }
        return Declaration.Tenant(id: id, settings: settings, clients: clients)
    }

    private mutating func readClient(_ member: JSONMember, path: String) -> Declaration.Client? {
        guard let id = ClientId(member.name) else {
            faults.add(
                "a client_id is 1 to 128 printable ASCII characters without blanks", path: path,
                offset: member.offset)
            return nil
        }
        if !id.fitsPathSegment {
            faults.add(Self.noPathSegment, path: path, offset: member.offset)
        }
        if !clientIds.insert(id).inserted {
            faults.add("this client_id is declared twice", path: path, offset: member.offset)
        }
        guard
            let object = DocumentObject(
                member.value, path: path, allowed: ClientSettings.members.union(["keys"]),
                faults: &faults)
        else { return nil }
        let settings = ClientSettings(object, faults: &faults)
        // Read apart from the settings, so that a fault among these hides none of the keys.
        let algorithm = object.value("alg")?.string.flatMap(JWSAlgorithm.init(rawValue:))
        let keys = readKeys(object, algorithm: algorithm)
        checkSecret(of: object)
        return settings.map { Declaration.Client(id: id, settings: $0, keys: keys) }
    }

    /// Read apart from the settings, for the same reason.
    private mutating func checkSecret(of client: DocumentObject) {
        guard let value = client.value("transport_tokens")?["secret"], let uri = value.string,
            // Otherwise it is a fault already.
            SharedSecret.isURI(uri)
        else { return }
        do { try checkSecret(uri) } catch {
            faults.add(
                "\(uri): \(error)", path: client.child("transport_tokens.secret"),
                offset: value.offset)
        }
    }

    private mutating func readKeys(_ client: DocumentObject, algorithm: JWSAlgorithm?)
        -> [Declaration.Key]
    {
        let expectation = "must be a list of keys, one of them active"
        guard let value = client.required("keys", expectation, &faults, { $0.array }) else {
            return []
        }
        let path = client.child("keys")
        var keys: [Declaration.Key] = []
        for (index, element) in value.enumerated() {
            guard let key = readKey(element, path: "\(path)[\(index)]", algorithm: algorithm) else {
                continue
            }
            if keys.contains(where: { $0.kid == key.kid }) {
                faults.add(
                    "another key has this kid", path: "\(path)[\(index)]", offset: element.offset)
            }
            if keys.contains(where: { $0.publicJWK.material == key.publicJWK.material }) {
                faults.add(
                    "this key is declared twice", path: "\(path)[\(index)]", offset: element.offset)
            }
            keys.append(key)
        }
        if keys.count == value.count, keys.count(where: { $0.state == .active }) != 1 {
            faults.add(
                "exactly one key must be active", path: path,
                offset: client.value("keys")?.offset ?? 0)
        }
        return keys
    }

    private mutating func readKey(
        _ value: JSONValue, path: String, algorithm: JWSAlgorithm?
    ) -> Declaration.Key? {
        guard
            let object = DocumentObject(
                value, path: path, allowed: ["uri", "state", "kid"], faults: &faults)
        else { return nil }
        let uri = object.required(
            "uri", "must be a key URI, such as file:/etc/broker/app.pem", &faults, \.string)
        let state = object.required("state", "must be pending, active or retiring", &faults) {
            $0.string.flatMap(KeyState.init(rawValue:))
        }
        let kid = object.optional(
            "kid", "must be 1 to 128 printable ASCII characters without blanks", &faults
        ) {
            $0.string.flatMap(ClientId.init)?.rawValue
        }
        guard let uri, let state else { return nil }
        do {
            var jwk = try loadKey(uri)
            if let algorithm, jwk.algorithm != algorithm {
                throw KeyError.wrongAlgorithm(expected: algorithm, found: jwk.algorithm)
            }
            let kid = (kid ?? nil) ?? jwk.thumbprint
            jwk.kid = kid
            return Declaration.Key(kid: kid, uri: uri, state: state, publicJWK: jwk)
        } catch {
            let offset = object.value("uri")?.offset ?? object.offset
            faults.add("\(uri): \(error)", path: object.child("uri"), offset: offset)
            return nil
        }
    }
}
