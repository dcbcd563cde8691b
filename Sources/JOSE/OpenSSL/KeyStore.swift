internal import COpenSSL

/// Opens private keys through OpenSSL's store (ossl_store(7)), and never asks on a terminal.
enum KeyStore {
    /// The one private key in `bytes`, PEM or DER.
    ///
    /// - Parameters:
    ///   - library: where the key shall live; OpenSSL's own unless given.
    ///   - properties: which provider's key it shall be.
    static func privateKey(
        in bytes: [UInt8], passphrase: [UInt8]?, library: OpaquePointer? = nil,
        properties: String? = nil
    ) throws(KeyError) -> OpaquePointer {
        try bytes.withUnsafeBufferPointer { (text) throws(KeyError) in
            // The BIO keeps this pointer, so all of its life is within the closure.
            guard let bio = BIO_new_mem_buf(text.baseAddress, Int32(text.count)) else {
                throw .openSSL(OpenSSLError.drain())
            }
            defer { BIO_free(bio) }
            return try read(passphrase) { method, data in
                OSSL_STORE_attach(
                    bio, "file", library, properties, method, data, nil, nil, nil)
            }
        }
    }

    /// The private key that a provider of `library` finds at `uri`.
    static func privateKey(
        at uri: String, passphrase: [UInt8]?, library: OpaquePointer, properties: String
    ) throws(KeyError) -> OpaquePointer {
        try read(passphrase) { method, data in
            OSSL_STORE_open_ex(uri, library, properties, method, data, nil, nil, nil)
        }
    }

    private static func read(
        _ passphrase: [UInt8]?,
        _ open: (OpaquePointer, UnsafeMutableRawPointer?) -> OpaquePointer?
    ) throws(KeyError) -> OpaquePointer {
        guard let method = UI_UTIL_wrap_read_pem_callback(givePassphrase, 0) else {
            throw .openSSL(OpenSSLError.drain())
        }
        defer { UI_destroy_method(method) }
        var phrase = passphrase ?? []
        defer { wipe(&phrase) }
        return try phrase.withUnsafeBufferPointer { (octets) throws(KeyError) in
            var answer = Answer(octets: passphrase == nil ? nil : octets, wasAsked: false)
            return try withUnsafeMutablePointer(to: &answer) { (answer) throws(KeyError) in
                guard let store = open(method, answer) else {
                    throw .malformed(OpenSSLError.drain())
                }
                defer { OSSL_STORE_close(store) }
                return try only(of: store, answer)
            }
        }
    }

    private static func only(
        of store: OpaquePointer, _ answer: UnsafeMutablePointer<Answer>
    ) throws(KeyError) -> OpaquePointer {
        var key: OpaquePointer?
        while OSSL_STORE_eof(store) == 0, let info = OSSL_STORE_load(store) {
            defer { OSSL_STORE_INFO_free(info) }
            guard OSSL_STORE_INFO_get_type(info) == OSSL_STORE_INFO_PKEY else { continue }
            guard key == nil else {
                EVP_PKEY_free(key)
                throw .severalPrivateKeys
            }
            key = OSSL_STORE_INFO_get1_PKEY(info)
        }
        let error = OpenSSLError.drain()
        guard let key else {
            guard answer.pointee.wasAsked else { throw .malformed(error) }
            throw answer.pointee.octets == nil ? .encrypted : .wrongPassphrase
        }
        return key
    }
}

/// What OpenSSL is told when it asks for a passphrase: the one that was given, or that there is none.
private struct Answer {
    let octets: UnsafeBufferPointer<UInt8>?
    var wasAsked: Bool
}

/// A `pem_password_cb`; its data is an `Answer`.
private func givePassphrase(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int32, _ writing: Int32,
    _ data: UnsafeMutableRawPointer?
) -> Int32 {
    guard let answer = data?.assumingMemoryBound(to: Answer.self) else { return -1 }
    answer.pointee.wasAsked = true
    guard let octets = answer.pointee.octets, let base = octets.baseAddress, let buffer,
        octets.count <= Int(size)
    else { return -1 }
    buffer.withMemoryRebound(to: UInt8.self, capacity: octets.count) {
        $0.update(from: base, count: octets.count)
    }
    return Int32(octets.count)
}
