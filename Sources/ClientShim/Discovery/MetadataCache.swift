import JOSE
import Synchronization

/// Fetches provider metadata and keeps it for ten minutes (R-100-40, R-100-42).
final class MetadataCache: Sendable {
    static let lifetimeMilliseconds: Int64 = 600_000

    private let environment: AuthnEnvironment
    private let offsets: ClockOffsets
    private let entries = Mutex<[String: Entry]>([:])

    private struct Entry {
        let metadata: ProviderMetadata
        let fetchedAt: Int64
    }

    /// Why there is no metadata.
    enum Failure: Error, Equatable {
        case lost
        case busy(Busy)
        case refused(Refusal)
        case unusable(String)
    }

    init(environment: AuthnEnvironment, offsets: ClockOffsets) {
        self.environment = environment
        self.offsets = offsets
    }

    /// The metadata, from the cache while it is fresh.
    func metadata(of issuer: String) async throws(Failure) -> ProviderMetadata {
        let now = environment.clock.monotonicMilliseconds()
        let known = entries.withLock { $0[issuer] }
        if let known, now - known.fetchedAt < Self.lifetimeMilliseconds { return known.metadata }
        let metadata = try await fetch(issuer)
        entries.withLock { $0[issuer] = Entry(metadata: metadata, fetchedAt: now) }
        return metadata
    }

    /// Forgets the issuer's metadata, after an endpoint answered 404.
    func forget(_ issuer: String) {
        _ = entries.withLock { $0.removeValue(forKey: issuer) }
    }

    private func fetch(_ issuer: String) async throws(Failure) -> ProviderMetadata {
        var answer = try await get(issuer.joined("/.well-known/openid-configuration"))
        if answer.status == 404, let fallback = Self.oauthURL(issuer) {
            answer = try await get(fallback)
        }
        switch AnswerClass(answer, now: environment.clock.now()) {
        case .busy(let busy): throw .busy(busy)
        case .refused(let refusal): throw .refused(refusal)
        case .served(let json):
            do {
                return try ProviderMetadata(
                    json, issuer: issuer, insecureLoopback: environment.allowInsecureLoopback)
            } catch {
                throw .unusable(error.details)
            }
        }
    }

    private func get(_ url: String) async throws(Failure) -> HTTPAnswer {
        let request = HTTPRequest(
            method: "GET", url: url, headers: [HTTPHeader("Accept", "application/json")])
        guard case .answer(let answer) = await environment.transport.send(request) else {
            throw .lost
        }
        if let origin = RequestURL(url)?.origin {
            // A wrong clock shows here, before the first proof is signed.
            offsets.learn(answer, from: origin, now: environment.clock.now())
        }
        return answer
    }

    /// RFC 8414 §3.1: the well-known part goes between host and path.
    static func oauthURL(_ issuer: String) -> String? {
        guard let mark = issuer.firstRange(of: "://") else { return nil }
        let rest = issuer[mark.upperBound...]
        let host = rest.prefix { $0 != "/" }
        var path = rest[host.endIndex...]
        if path.last == "/" { path.removeLast() }
        return issuer[..<mark.upperBound] + host + "/.well-known/oauth-authorization-server" + path
    }
}
