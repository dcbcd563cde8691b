import ClientShim
import JOSE

/// Client assertions signed with a key that this process holds, as a backend would make them. For tests only.
struct KeyStoreAssertions: ClientAssertionProvider {
    let keyStore: any KeyStore
    let now: @Sendable () -> Int64

    static let label = "client"
    static let kid = "k1"

    func clientAssertion(request: ClientAssertionRequest) throws -> String {
        var header = JSONWriter()
        header.object {
            $0.member("alg", "ES256")
            $0.member("kid", Self.kid)
            $0.member("typ", "client-authentication+jwt")
        }
        let jti = Base64URL.encode(try SecureRandom.bytes(16))
        var claims = JSONWriter()
        claims.object {
            $0.member("iss", request.clientId)
            $0.member("sub", request.clientId)
            $0.member("aud", request.audience)
            $0.member("jti", jti)
            $0.member("iat", now())
            $0.member("exp", now() + 60)
        }
        return try JWSBuilder.compact(header: header.bytes, payload: claims.bytes) { input in
            try keyStore.sign(label: Self.label, digest: SHA256.hash(input))
        }
    }
}
