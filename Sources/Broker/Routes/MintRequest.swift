import AssertionMint
import JOSE

/// The body of a mint call, read into values that cannot be wrong (`design.md` §3).
struct MintRequest: Sendable {
    /// What is asked for, with the members that only this kind has.
    enum Wish: Sendable, Equatable {
        /// The audience as sent; only compared with the client's issuers.
        case clientAssertion(audience: String)
        case transportToken
        /// The install's key, where no DPoP proof shows it.
        case clientAttestation(installKey: PublicJWK?)
    }

    /// The largest body that is read, in octets.
    static let maximumLength = 4096

    let clientId: ClientId
    let dpopJkt: DpopJkt
    let wish: Wish

    /// - Throws: `malformedRequest` naming the member; `audienceNotAllowed` for an audience that is no string, since an array
    ///   is the mistake that is made most.
    init(_ body: [UInt8], for kind: TokenKind) throws(BrokerError) {
        let json: JSONValue
        do {
            json = try JSONValue(parsing: body)
        } catch {
            throw .malformedRequest("the body is not JSON (\(error.reason.rawValue))")
        }
        guard json.members != nil else { throw .malformedRequest("the body is not a JSON object") }
        guard let clientId = json["client_id"]?.string.flatMap(ClientId.init) else {
            throw .malformedRequest("client_id is missing or malformed")
        }
        guard let dpopJkt = json["dpop_jkt"]?.string.flatMap(DpopJkt.init) else {
            throw .malformedRequest(
                "dpop_jkt must be 43 base64url characters of a SHA-256 thumbprint")
        }
        self.clientId = clientId
        self.dpopJkt = dpopJkt
        switch kind {
        case .clientAssertion: wish = .clientAssertion(audience: try Self.audience(json))
        case .transportToken: wish = .transportToken
        case .clientAttestation: wish = .clientAttestation(installKey: try Self.installKey(json))
        }
    }

    private static func audience(_ json: JSONValue) throws(BrokerError) -> String {
        guard let audience = json["audience"] else {
            throw .malformedRequest("audience is missing")
        }
        guard let audience = audience.string else { throw .audienceNotAllowed }
        return audience
    }

    private static func installKey(_ json: JSONValue) throws(BrokerError) -> PublicJWK? {
        guard let jwk = json["jwk"] else { return nil }
        do {
            return try PublicJWK(jwk)
        } catch .privateMember {
            throw .malformedRequest("jwk holds a private key: it must never leave its install")
        } catch {
            throw .malformedRequest("jwk is no public key on P-256, nor RSA of 2048 bits or more")
        }
    }
}
