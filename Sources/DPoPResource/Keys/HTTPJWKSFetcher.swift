import HTTPClient
import JOSE

/// Fetches key sets over HTTPS, 64 KiB at most. Redirects are not followed.
public struct HTTPJWKSFetcher: JWKSFetcher {
    private let client: HTTPClient

    /// - Parameters:
    ///   - caFile: PEM file of the only authorities to trust; `nil` trusts the system's.
    ///   - allowInsecureLoopback: lets plain `http` through to loopback hosts, for tests.
    public init(caFile: String? = nil, allowInsecureLoopback: Bool = false) {
        // Patient, for machines that are busy, but done before a server gives up the request that waits for it.
        client = HTTPClient(
            configuration: HTTPClientConfiguration(
                caFile: caFile, connectTimeout: 15, readTimeout: 15, totalTimeout: 20,
                maximumBodyBytes: 64 * 1024, allowInsecureLoopback: allowInsecureLoopback))
    }

    /// One request; only a 200 that is a key set counts.
    public func fetch(_ uri: String) async throws(JWKSFault) -> FetchedJWKS {
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
        return FetchedJWKS(
            keys: keys,
            maximumAge: CacheControl.maximumAge(
                answer.headers.values("Cache-Control"), age: answer.headers.first("Age")))
    }
}
