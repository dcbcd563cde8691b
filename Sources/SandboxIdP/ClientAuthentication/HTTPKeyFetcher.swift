import HTTPClient
import JOSE

/// Fetches key sets over HTTPS from each client's `jwks_uri`. Redirects are not followed.
struct HTTPKeyFetcher: ClientKeyFetcher {
    private let client: HTTPClient

    /// - Parameters:
    ///   - caFile: PEM file of the only authorities to trust; `nil` trusts the system's.
    ///   - allowInsecureLoopback: lets plain `http` through to loopback hosts, for tests.
    init(caFile: String?, allowInsecureLoopback: Bool = false) {
        // Patient, for machines that run much else beside a sandbox, but done before the server gives up the request.
        client = HTTPClient(
            configuration: HTTPClientConfiguration(
                caFile: caFile, connectTimeout: 15, readTimeout: 15, totalTimeout: 20,
                maximumBodyBytes: 64 * 1024, allowInsecureLoopback: allowInsecureLoopback))
    }

    func fetch(_ uri: String) async throws(ClientKeyFault) -> FetchedKeys {
        let outcome = await client.send(
            method: "GET", url: uri,
            headers: [("Accept", "application/jwk-set+json, application/json")])
        guard case .answer(let answer) = outcome, answer.status == 200 else { throw .unreachable }
        guard !answer.isOversized else { throw .malformed }
        let keys: JWKSet
        do {
            keys = try JWKSet(JSONValue(parsing: answer.body))
        } catch {
            throw .malformed
        }
        return FetchedKeys(
            keys: keys,
            maximumAge: CacheControl.maximumAge(
                answer.headers.values("Cache-Control"), age: answer.headers.first("Age")))
    }
}
