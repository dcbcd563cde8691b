import DPoPResource
import JOSE
import SocketServer

/// The code of docs/integrate-api.md, compiled here and run by IntegrateAPITests, which also compares the two.
enum IntegrateAPI {
    static func verifier(
        jwksURI: String, fetcher: any JWKSFetcher, nonces: DPoPNonces
    ) throws -> DPoPResourceVerifier {
        let configuration = try DPoPResourceConfiguration(
            issuer: "https://idp.example", audience: "https://api.example")
        let keys = IssuerJWKS(uri: jwksURI, cache: JWKSCache(fetcher: fetcher))
        return DPoPResourceVerifier(configuration, keys: keys, nonces: nonces)
    }

    static func nonces() throws -> DPoPNonces? {
        guard let secret = NonceSecret(try SecureRandom.bytes(32)) else { return nil }
        return DPoPNonces(secret, purpose: "accounts api")
    }

    static func answer(
        _ verifier: DPoPResourceVerifier, method: String, target: String,
        fields: [(name: String, value: String)], now: Int64
    ) async -> HTTPResponse {
        do throws(ResourceRefusal) {
            let request = try ResourceRequest(
                method: method, origin: "https://api.example", target: target, fields: fields)
            let access = try await verifier.verify(
                request, requiredScope: "accounts", now: now)
            let nonce = access.newNonce.map { [(name: "DPoP-Nonce", value: $0)] } ?? []
            return HTTPResponse(
                status: 200, headers: nonce, body: Array("Hello \(access.token.subject)".utf8))
        } catch {
            let answer = verifier.answer(to: error, now: now)
            return HTTPResponse(status: answer.status, headers: answer.headers)
        }
    }
}
