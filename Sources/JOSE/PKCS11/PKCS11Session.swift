internal import CPKCS11

/// An open session of a token. Its functions are lent by `PKCS11Module.use`, and one thread at a time may use it.
struct PKCS11Session {
    let handle: CK_ULONG
    private let functions: PKCS11Module.Functions

    init(slot: CK_ULONG, _ functions: PKCS11Module.Functions) throws(KeyError) {
        self.functions = functions
        var handle: CK_ULONG = 0
        try Self.check(
            functions.pointee.C_OpenSession(slot, CK_ULONG(CKF_SERIAL_SESSION), nil, nil, &handle),
            "C_OpenSession")
        self.handle = handle
    }

    /// One that was opened before.
    init(handle: CK_ULONG, _ functions: PKCS11Module.Functions) {
        self.handle = handle
        self.functions = functions
    }

    func close() { _ = functions.pointee.C_CloseSession(handle) }

    static func check(_ code: CK_RV, _ call: String) throws(KeyError) {
        guard code == CKR_OK else { throw .token(call: call, code: code) }
    }

    /// The one object of this kind that is as described.
    ///
    /// - Throws: `KeyError`: `none` when there is none, `severalPrivateKeys` when there are more.
    func find(_ attributes: PKCS11Attributes, none: KeyError) throws(KeyError) -> CK_ULONG {
        try Self.check(
            attributes.lend { functions.pointee.C_FindObjectsInit(handle, $0, $1) },
            "C_FindObjectsInit")
        var objects: [CK_ULONG] = [0, 0]
        var count: CK_ULONG = 0
        let code = functions.pointee.C_FindObjects(handle, &objects, 2, &count)
        _ = functions.pointee.C_FindObjectsFinal(handle)
        try Self.check(code, "C_FindObjects")
        guard count > 0 else { throw none }
        guard count == 1 else { throw .severalPrivateKeys }
        return objects[0]
    }

    /// The value of an attribute; `nil` when the object has none or keeps it to itself.
    func value(_ type: Int, of object: CK_ULONG) -> [UInt8]? {
        var attribute = CK_ATTRIBUTE(type: CK_ULONG(type), pValue: nil, ulValueLen: 0)
        guard functions.pointee.C_GetAttributeValue(handle, object, &attribute, 1) == CKR_OK,
            attribute.ulValueLen > 0, attribute.ulValueLen <= 16_384
        else { return nil }
        var octets = [UInt8](repeating: 0, count: Int(attribute.ulValueLen))
        let code = octets.withUnsafeMutableBytes { buffer in
            attribute.pValue = buffer.baseAddress
            return functions.pointee.C_GetAttributeValue(handle, object, &attribute, 1)
        }
        guard code == CKR_OK, attribute.ulValueLen <= CK_ULONG(octets.count) else { return nil }
        return Array(octets[..<Int(attribute.ulValueLen)])
    }

    /// The signature by `key` over input with this SHA-256.
    func sign(digest: [UInt8], by key: CK_ULONG, _ algorithm: JWSAlgorithm) throws(KeyError)
        -> [UInt8]
    {
        // PSS with SHA-256 in both places and 32 octets of salt (RFC 7518 §3.5).
        var parameters = CK_RSA_PKCS_PSS_PARAMS(
            hashAlg: CK_ULONG(CKM_SHA256), mgf: CK_ULONG(CKG_MGF1_SHA256), sLen: 32)
        let code = withUnsafeMutableBytes(of: &parameters) { parameters in
            let isRSA = algorithm == .PS256
            var mechanism = CK_MECHANISM(
                mechanism: CK_ULONG(isRSA ? CKM_RSA_PKCS_PSS : CKM_ECDSA),
                pParameter: isRSA ? parameters.baseAddress : nil,
                ulParameterLen: isRSA ? CK_ULONG(parameters.count) : 0)
            return functions.pointee.C_SignInit(handle, &mechanism, key)
        }
        try Self.check(code, "C_SignInit")
        var signature = [UInt8](repeating: 0, count: 1024)
        var length = CK_ULONG(signature.count)
        try Self.check(
            functions.pointee.C_Sign(
                handle, digest, CK_ULONG(digest.count), &signature, &length), "C_Sign")
        guard length <= CK_ULONG(signature.count) else { throw .unusable }
        return Array(signature[..<Int(length)])
    }
}
