/// Puts a compact JWS together (RFC 7515 §3.1).
public enum JWSBuilder {
    /// `header.payload.signature` in base64url.
    ///
    /// - Parameter sign: makes the signature over the octets it is given, in JOSE form.
    public static func compact<Failure: Error>(
        header: [UInt8], payload: [UInt8], sign: ([UInt8]) throws(Failure) -> [UInt8]
    ) throws(Failure) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((header.count + payload.count + 64) * 4 / 3 + 8)
        Base64URL.append(header, to: &text)
        return try compact(encodedHeader: text, payload: payload, sign: sign)
    }

    /// The same for a header that was encoded beforehand because it never changes.
    public static func compact<Failure: Error>(
        encodedHeader: [UInt8], payload: [UInt8], sign: ([UInt8]) throws(Failure) -> [UInt8]
    ) throws(Failure) -> String {
        var text = encodedHeader
        text.append(UInt8(ascii: "."))
        Base64URL.append(payload, to: &text)
        let signature = try sign(text)
        text.append(UInt8(ascii: "."))
        Base64URL.append(signature, to: &text)
        return String(decoding: text, as: UTF8.self)
    }
}
