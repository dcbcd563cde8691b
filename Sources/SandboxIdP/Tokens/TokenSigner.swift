import DPoPResource
import JOSE
import SocketServer

/// The provider's signing key, made at start and never stored.
struct TokenSigner: Sendable {
    private let key: PrivateKey
    private let verifier: PublicKey
    private let jwk: PublicJWK
    private let kid: String

    init() throws(ProviderError) {
        do { key = try PrivateKey.generate(.ES256) } catch { throw .signingKey(error) }
        kid = key.publicJWK.thumbprint
        var jwk = key.publicJWK
        jwk.kid = kid
        self.jwk = jwk
        do { verifier = try PublicKey(jwk) } catch { throw .signingKey(.unusable) }
    }

    /// The public keys that check this provider's tokens.
    var keySet: JWKSet { JWKSet([jwk]) }

    var keySetResponse: HTTPResponse {
        HTTPResponse(
            status: 200,
            headers: [
                ("Content-Type", "application/jwk-set+json"),
                ("Cache-Control", "public, max-age=300"),
            ], body: Array(keySet.jsonText.utf8))
    }

    /// A compact JWS of `claims`.
    func sign(_ claims: JSONWriter, type: String) throws(OAuthFault) -> String {
        var header = JSONWriter()
        header.object {
            $0.member("typ", type)
            $0.member("alg", key.algorithm.rawValue)
            $0.member("kid", kid)
        }
        do {
            return try JWSBuilder.compact(header: header.bytes, payload: claims.bytes) {
                (input) throws(KeyError) in try key.sign(input)
            }
        } catch { throw .serverError }
    }

    /// The claims of an access token that this provider signed, expired or not; `nil` for any other text.
    func claims(ofAccessToken text: String) -> JSONValue? {
        guard let jws = try? CompactJWS(parsing: text.utf8), jws.hasType(AccessToken.type),
            jws.isSigned(by: verifier)
        else { return nil }
        return try? jws.claims()
    }
}
