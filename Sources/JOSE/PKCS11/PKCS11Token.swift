internal import CPKCS11
internal import Synchronization

/// The token a URI describes, found among those that a module has at this moment.
struct PKCS11Token {
    let slot: CK_ULONG
    /// What tells it from other tokens.
    var name: String { text(info.label) + " " + text(info.serialNumber) }
    private let info: CK_TOKEN_INFO

    /// - Throws: `KeyError`: `noSuchToken`, `severalTokens`, or what a call answered.
    init(_ uri: PKCS11URI, _ functions: PKCS11Module.Functions) throws(KeyError) {
        var found: [(CK_ULONG, CK_TOKEN_INFO)] = []
        for slot in try Self.slots(functions) where uri.slot.map({ $0 == slot }) ?? true {
            var info = CK_TOKEN_INFO()
            // A token that is being pulled out says so here.
            guard functions.pointee.C_GetTokenInfo(slot, &info) == CKR_OK else { continue }
            let isMeant = [
                (uri.token, text(info.label)), (uri.manufacturer, text(info.manufacturerID)),
                (uri.serial, text(info.serialNumber)), (uri.model, text(info.model)),
            ].allSatisfy { wanted, said in wanted.map { $0 == said } ?? true }
            if isMeant { found.append((slot, info)) }
        }
        guard let only = found.first else { throw .noSuchToken }
        guard found.count == 1 else { throw .severalTokens }
        (slot, info) = only
    }

    private static func slots(_ functions: PKCS11Module.Functions) throws(KeyError) -> [CK_ULONG] {
        var count: CK_ULONG = 0
        try PKCS11Session.check(functions.pointee.C_GetSlotList(1, nil, &count), "C_GetSlotList")
        // One may be plugged in between the two calls.
        count = min(count, 4096) + 8
        var slots = [CK_ULONG](repeating: 0, count: Int(count))
        try PKCS11Session.check(
            functions.pointee.C_GetSlotList(1, &slots, &count), "C_GetSlotList")
        return Array(slots.prefix(Int(count)))
    }

    /// Logs the process in, so that private keys are there. A wrong PIN is tried once in the life of the process, and none
    /// when it would be the last that the token allows.
    func login(
        _ session: PKCS11Session, _ source: PassphraseSource?, _ functions: PKCS11Module.Functions
    ) throws(KeyError) {
        guard let source else {
            guard info.flags & CK_ULONG(CKF_LOGIN_REQUIRED) == 0 else { throw .pinMissing }
            return
        }
        guard
            info.flags & CK_ULONG(CKF_USER_PIN_FINAL_TRY | CKF_USER_PIN_LOCKED) == 0
        else { throw .pinRefused }
        var pin = try source.read()
        defer { wipe(&pin) }
        let trial = SHA256.hash(
            Array((text(info.serialNumber) + "\0" + text(info.label) + "\0").utf8) + pin)
        guard !Self.refused.withLock({ $0.contains(trial) }) else { throw .pinRefused }
        let code = functions.pointee.C_Login(
            session.handle, CK_ULONG(CKU_USER), pin, CK_ULONG(pin.count))
        switch Int(code) {
        // Logged in are all sessions of a process or none.
        case CKR_OK, CKR_USER_ALREADY_LOGGED_IN: return
        case CKR_PIN_INCORRECT, CKR_PIN_LOCKED:
            Self.refused.withLock { _ = $0.insert(trial) }
            throw .pinRefused
        default: throw .token(call: "C_Login", code: code)
        }
    }

    /// Digests of tokens and PINs that did not go together.
    private static let refused = Mutex<Set<[UInt8]>>([])
}

/// A field of fixed length, filled up with blanks.
private func text<Field>(_ field: Field) -> String {
    withUnsafeBytes(of: field) { octets in
        let end = octets.lastIndex { $0 != 0x20 && $0 != 0 }.map { $0 + 1 } ?? 0
        return String(decoding: octets[..<end], as: UTF8.self)
    }
}
