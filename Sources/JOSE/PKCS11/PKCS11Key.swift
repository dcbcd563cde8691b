internal import CPKCS11
internal import Synchronization

/// A key in a PKCS #11 token: an HSM, a smart card, SoftHSM. It never leaves it.
final class PKCS11Key: DeviceKey {
    let publicJWK: PublicJWK
    let device: String
    private let uri: PKCS11URI
    private let module: PKCS11Module
    /// The name of the token.
    private let token: String
    /// The key as it was found last.
    private let found: Mutex<Found>

    private struct Found: Sendable {
        let session: PKCS11Module.IdleSession
        let key: CK_ULONG
        let token: String
    }

    init(_ uri: PKCS11URI) throws(KeyError) {
        self.uri = uri
        module = try PKCS11Module.at(uri.modulePath)
        let (found, publicJWK) = try Self.firstOpen(uri, module)
        self.publicJWK = publicJWK
        self.found = Mutex(found)
        token = found.token
        device = "pkcs11 \(found.token)"
        giveBack(found.session)
    }

    /// A token that came after the module was started is seen by the next start only.
    private static func firstOpen(
        _ uri: PKCS11URI, _ module: PKCS11Module
    ) throws(KeyError) -> (Found, PublicJWK) {
        let generation = try module.use { _, generation in generation }
        do {
            return try open(uri, module, expecting: nil)
        } catch .noSuchToken {
            try module.restart(seen: generation)
            return try open(uri, module, expecting: nil)
        }
    }

    func sign(digest: [UInt8]) throws(KeyError) -> [UInt8] {
        guard digest.count == SHA256.length else { throw .unusable }
        if let session = module.takeIdle(of: token) {
            if let signature = try? sign(digest, session) { return signature }
            close(module.dropIdle(of: token))
        }
        let generation = try module.use { _, generation in generation }
        do {
            return try signAnew(digest)
        } catch .pinRefused {
            throw .pinRefused
        } catch {
            try module.restart(seen: generation)
            return try signAnew(digest)
        }
    }

    /// In a new session, with the key found anew.
    private func signAnew(_ digest: [UInt8]) throws(KeyError) -> [UInt8] {
        let fresh = try Self.open(uri, module, expecting: publicJWK).0
        found.withLock { $0 = fresh }
        return try sign(digest, fresh.session)
    }

    private func sign(
        _ digest: [UInt8], _ session: PKCS11Module.IdleSession
    ) throws(KeyError) -> [UInt8] {
        do throws(KeyError) {
            let signature = try module.use { functions, generation throws(KeyError) in
                let found = found.withLock(\.self)
                guard session.generation == generation, found.session.generation == generation
                else { throw .noSuchToken }
                return try PKCS11Session(handle: session.handle, functions)
                    .sign(digest: digest, by: found.key, publicJWK.algorithm)
            }
            giveBack(session)
            return signature
        } catch {
            close([session])
            throw error
        }
    }

    private func giveBack(_ session: PKCS11Module.IdleSession) {
        if !module.keep(session, of: token) { close([session]) }
    }

    private func close(_ sessions: [PKCS11Module.IdleSession]) {
        guard !sessions.isEmpty else { return }
        try? module.use { functions, generation in
            for session in sessions where session.generation == generation {
                PKCS11Session(handle: session.handle, functions).close()
            }
        }
    }

    /// Finds token and key, logs in, and reads the public half; with `expecting`, only that the key is the same one.
    private static func open(
        _ uri: PKCS11URI, _ module: PKCS11Module, expecting expected: PublicJWK?
    ) throws(KeyError) -> (Found, PublicJWK) {
        try module.use { functions, generation throws(KeyError) in
            let token = try PKCS11Token(uri, functions)
            let session = try PKCS11Session(slot: token.slot, functions)
            do throws(KeyError) {
                try token.login(session, uri.pin, functions)
                let key = try session.find(description(CKO_PRIVATE_KEY, uri), none: .noPrivateKey)
                let jwk = try publicHalf(of: key, uri, session)
                guard expected.map({ $0.material == jwk.material }) ?? true else {
                    throw .unusable
                }
                let found = Found(
                    session: .init(handle: session.handle, generation: generation), key: key,
                    token: token.name)
                return (found, jwk)
            } catch {
                session.close()
                throw error
            }
        }
    }

    private static func description(_ objectClass: Int, _ uri: PKCS11URI) -> PKCS11Attributes {
        var attributes = PKCS11Attributes(class: objectClass)
        if let label = uri.object { attributes.add(CKA_LABEL, label) }
        if let id = uri.id { attributes.add(CKA_ID, id) }
        return attributes
    }

    private static func publicHalf(
        of key: CK_ULONG, _ uri: PKCS11URI, _ session: PKCS11Session
    ) throws(KeyError) -> PublicJWK {
        guard let type = session.value(CKA_KEY_TYPE, of: key),
            type.count == MemoryLayout<CK_ULONG>.size
        else { throw .unsupportedType("unknown") }
        switch Int(type.withUnsafeBytes { $0.loadUnaligned(as: CK_ULONG.self) }) {
        case CKK_EC:
            guard session.value(CKA_EC_PARAMS, of: key) == p256 else {
                throw .unsupportedCurve("other than P-256")
            }
            // The point is an attribute of the public key, which has the private one's id (PKCS #11 §2.1.2 of the guide).
            var attributes = PKCS11Attributes(class: CKO_PUBLIC_KEY)
            if let id = session.value(CKA_ID, of: key) { attributes.add(CKA_ID, id) }
            if let label = uri.object { attributes.add(CKA_LABEL, label) }
            guard
                let point = session.value(
                    CKA_EC_POINT, of: try session.find(attributes, none: .noPublicHalf)),
                let (x, y) = coordinates(point)
            else { throw .noPublicHalf }
            do { return try PublicJWK(.p256(x: x, y: y)) } catch { throw .unusable }
        case CKK_RSA:
            guard let modulus = session.value(CKA_MODULUS, of: key),
                let exponent = session.value(CKA_PUBLIC_EXPONENT, of: key)
            else { throw .noPublicHalf }
            return try KeyInspection.rsaJWK(
                modulus: Array(modulus.drop { $0 == 0 }),
                exponent: Array(exponent.drop { $0 == 0 }))
        default: throw .unsupportedType("neither EC nor RSA")
        }
    }

    /// The object identifier of P-256, in DER.
    private static let p256: [UInt8] = [0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]

    /// An uncompressed point, within an OCTET STRING as the standard says or without as some tokens do.
    private static func coordinates(_ point: [UInt8]) -> ([UInt8], [UInt8])? {
        var octets = point[...]
        if octets.count == 67, octets.starts(with: [0x04, 65]) { octets = octets.dropFirst(2) }
        guard octets.count == 65, octets.popFirst() == 4 else { return nil }
        return (Array(octets.prefix(32)), Array(octets.suffix(32)))
    }
}
