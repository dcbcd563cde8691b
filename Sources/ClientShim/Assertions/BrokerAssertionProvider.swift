import JOSE
import Synchronization

/// Fetches assertions from the token broker (R-101 §2.3). One call is one mint request, and one repeat
/// when the broker asks for its nonce; nothing else is ever sent again (R-101-28).
public final class BrokerAssertionProvider: ClientAssertionProvider {
    private let endpoint: String
    private let credential: BrokerCredential
    private let environment: AuthnEnvironment
    private let nonces = NonceTable()
    private let offsets = ClockOffsets()
    private let state = Mutex(State())

    private struct State {
        /// Monotonic milliseconds before which a client must not ask again (R-101-27).
        var notBefore: [String: Int64] = [:]
        var keys: [String: InstallKey] = [:]
    }

    /// - Parameters:
    ///   - brokerURL: the broker's base URL, such as `https://broker.example`.
    ///   - environment: the app's own; key store, transport, clock and random source are used.
    public init(
        brokerURL: String, environment: AuthnEnvironment, credential: BrokerCredential = .dpop
    ) {
        endpoint = brokerURL.joined("/v1/assertions")
        self.environment = environment
        self.credential = credential
    }

    /// One fresh assertion. Blocks while the broker is asked.
    public func clientAssertion(request: ClientAssertionRequest) throws -> String {
        try mint(request).expose()
    }

    private func mint(
        _ request: ClientAssertionRequest
    ) throws(ClientAssertionError) -> Secret<String> {
        try refuseWhileLimited(request)
        guard let target = RequestURL(endpoint),
            target.isAllowed(insecureLoopback: environment.allowInsecureLoopback)
        else { throw .Unavailable(details: "the broker's URL is no https URL") }
        let proofs = try proofMaker(for: request)
        var attempt = try send(request, target, proofs)
        if attempt.asksForNonce { attempt = try send(request, target, proofs) }
        return try assertion(in: attempt.answer, request)
    }

    // MARK: - Asking

    private struct Attempt {
        let answer: HTTPAnswer
        /// The broker gave a nonce that the proof did not carry.
        let asksForNonce: Bool
    }

    private func send(
        _ request: ClientAssertionRequest, _ target: RequestURL, _ proofs: ProofMaker?
    ) throws(ClientAssertionError) -> Attempt {
        var headers = [
            HTTPHeader("Content-Type", "application/json"),
            HTTPHeader("Accept", "application/json, application/problem+json"),
        ]
        var nonce: String?
        if let proofs {
            do {
                let proof = try proofs.proof(method: "POST", url: target)
                nonce = proof.nonce
                headers.append(HTTPHeader("DPoP", proof.text.expose()))
            } catch {
                throw .Unavailable(details: error.details)
            }
        }
        if case .backendToken(let token) = credential {
            headers.append(HTTPHeader("Authorization", "Bearer \(token.expose())"))
        }
        let outcome = environment.transport.sendAndWait(
            HTTPRequest(
                method: "POST", url: endpoint, headers: headers,
                body: .bytes(Self.body(of: request))))
        guard case .answer(let answer) = outcome else {
            throw .Unavailable(details: "the broker gave no answer")
        }
        nonces.record(answer, from: target.origin)
        offsets.learn(answer, from: target.origin, now: environment.clock.now())
        let fresh = NonceTable.nonce(in: answer).map { $0 != nonce } ?? false
        let asks =
            proofs != nil && fresh && answer.status == 401
            && Problem(answer).code == "use_dpop_nonce"
        return Attempt(answer: answer, asksForNonce: asks)
    }

    private static func body(of request: ClientAssertionRequest) -> [UInt8] {
        var json = JSONWriter()
        json.object {
            $0.member("client_id", request.clientId)
            $0.member("audience", request.audience)
            $0.member("dpop_jkt", request.dpopJkt)
        }
        return json.bytes
    }

    /// The proof must be by the key the assertion is for (R-101-24): looked up by its thumbprint.
    private func proofMaker(
        for request: ClientAssertionRequest
    ) throws(ClientAssertionError) -> ProofMaker? {
        guard case .dpop = credential else { return nil }
        let key = try installKey(request.dpopJkt)
        return ProofMaker(
            key: key, keyStore: environment.keyStore, clock: environment.clock,
            random: environment.random, nonces: nonces, offsets: offsets)
    }

    private func installKey(_ dpopJkt: String) throws(ClientAssertionError) -> InstallKey {
        if let known = state.withLock({ $0.keys[dpopJkt] }) { return known }
        do {
            for label in try environment.keyStore.list() {
                guard let jwk = try environment.keyStore.publicJWK(label: label),
                    jwk.thumbprint == dpopJkt
                else { continue }
                let key = InstallKey(label: label, publicJWK: jwk)
                state.withLock { $0.keys[dpopJkt] = key }
                return key
            }
        } catch {
            throw .Unavailable(details: AuthnFault.keyStore(error).details)
        }
        throw .Unavailable(details: "no key of this install has that thumbprint")
    }

    // MARK: - The answer

    private func assertion(
        in answer: HTTPAnswer, _ request: ClientAssertionRequest
    ) throws(ClientAssertionError) -> Secret<String> {
        if answer.status == 200, !answer.isOversized {
            let json = try? JSONValue(parsing: answer.body)
            guard let assertion = json?["client_assertion"]?.string else {
                throw .Unavailable(details: "the broker's answer holds no assertion")
            }
            return Secret(assertion)
        }
        let retryAfter = RetryAfter.seconds(in: answer, now: environment.clock.now())
        if answer.status == 429, let retryAfter {
            let until = environment.clock.monotonicMilliseconds() + Int64(retryAfter) * 1000
            state.withLock { $0.notBefore[request.clientId] = until }
        }
        let code = Problem(answer).code.map { " " + Refusal.printable($0) } ?? ""
        let wait = retryAfter.map { ", again in \($0) s" } ?? ""
        throw .Unavailable(details: "the broker answered \(answer.status)\(code)\(wait)")
    }

    private func refuseWhileLimited(
        _ request: ClientAssertionRequest
    ) throws(ClientAssertionError) {
        let now = environment.clock.monotonicMilliseconds()
        let left = state.withLock { state in
            state.notBefore[request.clientId].map { $0 - now } ?? 0
        }
        guard left <= 0 else {
            throw .Unavailable(details: "rate limited for another \((left + 999) / 1000) s")
        }
    }
}

/// The stable `code` of a broker's problem document (RFC 9457).
private struct Problem {
    let code: String?

    init(_ answer: HTTPAnswer) {
        code = (try? JSONValue(parsing: answer.body))?["code"]?.string
    }
}
