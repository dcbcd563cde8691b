import JOSE

/// A request an enrolled device key signed (R-100-50 to R-100-52), not yet trusted.
struct DeviceRequest: Sendable {
    /// Who says to have signed it.
    enum Signer: Sendable {
        /// An enrolled key, by its id.
        case enrolled(keyId: String)
        /// A key nobody knows, with which a device without a fitting identity asks (R-000-05).
        case throwaway(PublicJWK)
    }

    /// What a request may ask for.
    enum Action: String, Sendable {
        case faceToken = "face_token"
        case complete
        case abort
    }

    let signer: Signer
    let claims: JSONValue
    private let jws: CompactJWS

    static let type = "device-request+jwt"
    /// Seconds from `iat` to `exp`, for a request that is not to be repeated.
    static let lifetime: Int64 = 60

    init(parsing octets: some Collection<UInt8>) throws(DeviceRequestFault) {
        do {
            jws = try CompactJWS(parsing: octets)
            claims = try jws.claims()
        } catch { throw .malformed(error) }
        guard jws.type == Self.type else { throw .type }
        guard jws.algorithm == .ES256 else { throw .algorithm }
        for name in ["jku", "x5u", "x5c"] where jws.header[name] != nil {
            throw .malformed(.headerMember(name))
        }
        signer = try Self.signer(jws)
    }

    private static func signer(_ jws: CompactJWS) throws(DeviceRequestFault) -> Signer {
        switch (jws.kid, jws.header["jwk"]) {
        case (let keyId?, nil): return .enrolled(keyId: keyId)
        case (nil, let member?):
            do { return .throwaway(try PublicJWK(member)) } catch { throw .key(error) }
        default: throw .signer
        }
    }

    /// The id of the key that is said to have signed, which is its thumbprint.
    var keyId: String {
        switch signer {
        case .enrolled(let keyId): keyId
        case .throwaway(let jwk): jwk.thumbprint
        }
    }

    func isSigned(by key: PublicKey) -> Bool { jws.isSigned(by: key) }

    /// Checks every claim but `jti`, which needs a memory.
    ///
    /// - Parameters:
    ///   - replayableUntil: when the ceremony ends, for a request whose exact bytes may be sent again (R-100-51).
    ///   - now: seconds since 1970 UTC.
    func check(
        _ action: Action, sid: String, issuer: String, replayableUntil: Int64? = nil, now: Int64
    ) throws(DeviceRequestFault) {
        guard try text("iss") == keyId else { throw .claim("iss") }
        guard try text("aud").utf8.elementsEqual(issuer.utf8) else { throw .claim("aud") }
        guard try text("act") == action.rawValue else { throw .claim("act") }
        guard try text("sid") == sid else { throw .claim("sid") }
        guard let issuedAt = claims["iat"]?.numericDate,
            issuedAt <= Double(now + ClockSkew.acceptedAhead)
        else { throw .claim("iat") }
        guard let expiry = claims["exp"]?.numericDate, expiry > Double(now) else {
            throw .claim("exp")
        }
        // A device computes the ceremony's end from the answer it got, a little later than the server did.
        let latest = replayableUntil.map { Double($0 + 60) } ?? issuedAt + Double(Self.lifetime)
        guard expiry <= latest else { throw .claim("exp") }
        guard try text("jti").utf8.count <= 128 else { throw .claim("jti") }
    }

    /// A claim that must be a string with something in it.
    func text(_ name: String) throws(DeviceRequestFault) -> String {
        guard let text = claims[name]?.string, !text.isEmpty else { throw .claim(name) }
        return text
    }
}

/// Why a device request is not acceptable.
enum DeviceRequestFault: Error, Equatable, Sendable {
    case malformed(JWSError)
    case type
    case algorithm
    case signer
    case key(JWKError)
    case signature
    case claim(String)
    case reused
    /// The session was completed with other bytes.
    case anotherCompletion
}
