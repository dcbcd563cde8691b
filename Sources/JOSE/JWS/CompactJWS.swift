/// A compact JWS taken apart strictly (RFC 7515 §3.1, §5.2); nothing about it is trusted yet.
public struct CompactJWS: Sendable {
    /// The longest text that is looked at, in octets.
    public static let maximumLength = 8192

    /// The protected header, a JSON object.
    public let header: JSONValue
    /// The header's `alg`, when it is one the product knows.
    public let algorithm: JWSAlgorithm
    /// The header's `kid`.
    public let kid: String?
    /// The header's `typ`, as written.
    public let type: String?
    /// The payload's octets; a JWS may have none, but then `claims()` refuses it (RFC 7519 §7.2).
    public let payload: [UInt8]
    /// The octets the signature is made over: `header.payload`, exactly as received.
    public let signingInput: [UInt8]
    /// The signature's octets.
    public let signature: [UInt8]

    /// Takes `text` apart.
    ///
    /// - Throws: `JWSError`; any `crit` is refused, since no extension is understood here (RFC 7515 §4.1.11).
    public init(parsing text: some Collection<UInt8>) throws(JWSError) {
        guard text.count <= Self.maximumLength else { throw .tooLong }
        let bytes = Array(text)
        let segments = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard segments.count == 3, !segments[0].isEmpty, !segments[2].isEmpty else {
            throw .notThreeSegments
        }
        guard let headerBytes = Base64URL.decode(segments[0]),
            let payload = Base64URL.decode(segments[1]),
            let signature = Base64URL.decode(segments[2])
        else { throw .notBase64URL }
        do { header = try JSONValue(parsing: headerBytes, maximumDepth: 8) } catch {
            throw .header(error)
        }
        guard header.members != nil else { throw .headerMember("header") }
        guard header["crit"] == nil, header["b64"] == nil else { throw .criticalExtension }
        guard let name = try Self.text(header, "alg"), let algorithm = JWSAlgorithm(rawValue: name)
        else {
            throw .algorithm
        }
        self.algorithm = algorithm
        kid = try Self.text(header, "kid")
        type = try Self.text(header, "typ")
        self.payload = payload
        self.signature = signature
        signingInput = Array(bytes[..<segments[1].endIndex])
    }

    /// The payload as a JSON object (RFC 7519 §7.2).
    public func claims() throws(JWSError) -> JSONValue {
        let claims: JSONValue
        do { claims = try JSONValue(parsing: payload) } catch { throw .payload(error) }
        guard claims.members != nil else { throw .payloadMember("payload") }
        return claims
    }

    /// Refuses a header that brings its own key or a place to find one; such keys never supply trust (RFC 8725 §3.1, §3.10).
    public func refuseEmbeddedKeys() throws(JWSError) {
        for name in ["jwk", "jku", "x5u", "x5c"] where header[name] != nil {
            throw .headerMember(name)
        }
    }

    /// Whether `typ` names `mediaType`; letter case and a leading `application/` do not matter (RFC 7515 §4.1.9).
    public func hasType(_ mediaType: String) -> Bool {
        guard var type = type?.lowercased() else { return false }
        if type.hasPrefix("application/") { type.removeFirst("application/".count) }
        return type == mediaType.lowercased()
    }

    private static func text(_ json: JSONValue, _ name: String) throws(JWSError) -> String? {
        guard let value = json[name] else { return nil }
        guard let text = value.string else { throw .headerMember(name) }
        return text
    }
}

/// Why a text is not an acceptable compact JWS.
public enum JWSError: Error, Equatable, Sendable {
    /// More than `CompactJWS.maximumLength` octets.
    case tooLong
    /// Not exactly three segments, or no header or signature (a JWE, a JSON serialisation, an unsigned token).
    case notThreeSegments
    /// A segment that is not canonical base64url.
    case notBase64URL
    /// The header is not strict JSON.
    case header(JSONError)
    /// A header member that is missing, of the wrong type, or not allowed here.
    case headerMember(String)
    /// `alg` is missing or none of ES256 and PS256.
    case algorithm
    /// `crit` or `b64` is present.
    case criticalExtension
    /// The payload is not strict JSON.
    case payload(JSONError)
    /// A claim that is missing or of the wrong type.
    case payloadMember(String)
}
