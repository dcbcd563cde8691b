import DPoPResource
import Glibc
import JOSE
import Synchronization
import TestKit

/// An API of the tenant over TLS, on an origin of its own, with nonces of its own.
final class TLSAPI: Sendable {
    private let peer: TLSPeer
    private let first: Hook

    var url: String { peer.url + "/accounts" }
    var requests: EventTrail<TLSPeer.Seen> { peer.requests }

    init(_ certificate: TestAuthority.Certificate, _ provider: TLSProvider) async throws {
        let verifier = Late<(DPoPResourceVerifier, origin: String)>()
        let hook = Hook()
        first = hook
        peer = try TLSPeer(certificate) { seen in
            if let answer = await hook.answer(seen) { return answer }
            guard let (verifier, origin) = verifier.value.withLock({ $0 }) else {
                return TLSPeer.Answer(status: 500)
            }
            return await Self.answer(seen, verifier, origin)
        }
        guard let secret = NonceSecret(try SecureRandom.bytes(32)) else { throw BadSetUp() }
        let made = DPoPResourceVerifier(
            try DPoPResourceConfiguration(
                issuer: provider.issuer, audience: provider.issuer + "/api"),
            keys: FixedIssuerKeys(try await provider.keySet()),
            nonces: DPoPNonces(secret, purpose: "an api"),
            isRevoked: { [weak provider] token in
                guard let provider, let id = token.claims["grant_id"]?.string else { return true }
                return !provider.isLive(grantId: id)
            })
        let origin = peer.url
        verifier.value.withLock { $0 = (made, origin) }
    }

    struct BadSetUp: Error {}

    /// What is known only when the peer listens.
    private final class Late<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }

    /// Answers instead of the API, as long as it gives answers.
    func answerFirst(_ answer: @escaping @Sendable (TLSPeer.Seen) async -> TLSPeer.Answer?) {
        first.set(answer)
    }

    func stop() async { await peer.stop() }

    private final class Hook: Sendable {
        private let body = Mutex<(@Sendable (TLSPeer.Seen) async -> TLSPeer.Answer?)?>(nil)

        func set(_ new: @escaping @Sendable (TLSPeer.Seen) async -> TLSPeer.Answer?) {
            body.withLock { $0 = new }
        }

        func answer(_ seen: TLSPeer.Seen) async -> TLSPeer.Answer? {
            await body.withLock { $0 }?(seen)
        }
    }

    /// Serves the body that came to whoever may ask.
    private static func answer(
        _ seen: TLSPeer.Seen, _ verifier: DPoPResourceVerifier, _ origin: String
    ) async -> TLSPeer.Answer {
        let now = Int64(time(nil))
        do throws(ResourceRefusal) {
            let access = try await verifier.verify(
                ResourceRequest(
                    method: seen.method, origin: origin, target: seen.path, fields: seen.headers),
                now: now)
            return TLSPeer.Answer(
                headers: access.newNonce.map { [("DPoP-Nonce", $0)] } ?? [], body: seen.body)
        } catch {
            let answer = verifier.answer(to: error, now: now)
            return TLSPeer.Answer(status: answer.status, headers: answer.headers)
        }
    }

    /// The claims of a proof, unchecked.
    static func claims(ofProof text: String?) -> JSONValue? {
        guard let parts = text?.split(separator: "."), parts.count == 3,
            let bytes = Base64URL.decode(parts[1].utf8)
        else { return nil }
        return try? JSONValue(parsing: bytes)
    }
}
