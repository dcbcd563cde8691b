import AssertionMint
import HTTPClient
import JOSE

/// What a provider thinks of an assertion.
enum ProbeAnswer: Sendable, Equatable {
    /// It authenticated the client: it refused the code, and nothing before it.
    case accepted
    /// It did not: the key is not known (yet), or a rule is broken. `error` and `description` are its words.
    case refused(error: String, description: String?)
    /// It answered another OAuth error, by its code, which says nothing about the assertion by itself; and the same for a person.
    case refusedOtherwise(error: String, String)
    /// Neither is known: no answer, or one that says nothing about the assertion. For a person.
    case unclear(String)
}

/// Asks a provider whether it accepts a client's assertions: a token request with a fresh one and a code that is worthless.
///
/// `invalid_grant` shows that the client was authenticated, `invalid_client` that it was not (RFC 6749 §5.2). The request carries a
/// DPoP proof by a key made for it, which the assertion is bound to as it is to an install's; a nonce that the provider demands is used
/// (RFC 9449 §8). It can yield no token, and of each assertion the provider is the only one who ever sees it.
struct ProviderProbe: Sendable {
    let issuer: Issuer
    let signer: AssertionSigner
    let fetch: ProviderFetcher
    var clock = WallClock.system

    /// Asks at the token endpoint that the provider's metadata names.
    func ask() async -> ProbeAnswer {
        let metadata: ProviderMetadata
        do { metadata = try await .of(issuer, fetch) } catch { return .unclear("\(error)") }
        guard let endpoint = metadata.endpoint("token_endpoint") else {
            return .unclear("\(metadata.url): no token_endpoint that can be used")
        }
        return await ask(at: endpoint)
    }

    /// Asks at this token endpoint.
    func ask(at endpoint: ProviderEndpoint) async -> ProbeAnswer {
        let install: PrivateKey
        do { install = try PrivateKey.generate(.ES256) } catch { return .unclear("\(error)") }
        var nonce: String?
        while true {
            let request: ProviderRequest
            do {
                request = try self.request(to: endpoint, install, nonce: nonce)
            } catch {
                return .unclear(error.message)
            }
            let outcome = await fetch(request)
            // A provider that wants a nonce once more after it got one wants it for ever.
            if nonce == nil, let demanded = Self.demandedNonce(outcome) {
                nonce = demanded
                continue
            }
            return Self.answer(outcome, of: endpoint)
        }
    }

    private struct Unsigned: Error {
        let message: String
    }

    private func request(
        to endpoint: ProviderEndpoint, _ install: PrivateKey, nonce: String?
    ) throws(Unsigned) -> ProviderRequest {
        do {
            let now = clock.seconds
            let assertion = try signer.assertion(
                audience: issuer, dpopJkt: DpopJkt(of: install.publicJWK),
                jti: try JTI.random(at: now),
                times: signer.times(now: now))
            let proof = try DPoPProof(
                htm: "POST", uri: endpoint.target, jti: try JTI.random(at: now).rawValue, iat: now,
                nonce: nonce
            ).compact(jwk: install.publicJWK) { (input) throws(KeyError) in
                try install.sign(input)
            }
            return .post(
                endpoint.url,
                form: [
                    ("grant_type", "authorization_code"),
                    // As random as a real one, and nobody's.
                    ("code", Base64URL.encode(try SecureRandom.bytes(32))),
                    ("code_verifier", Base64URL.encode(try SecureRandom.bytes(32))),
                    ("client_id", signer.clientId.rawValue),
                    ("client_assertion_type", ConsumeRequest.assertionType),
                    ("client_assertion", assertion.expose()),
                ], headers: [("DPoP", proof)])
        } catch {
            throw Unsigned(message: "no assertion could be signed: \(error)")
        }
    }

    /// The nonce of an answer that demands one (RFC 9449 §8).
    private static func demandedNonce(_ outcome: HTTPOutcome) -> String? {
        guard case .answer(let answer) = outcome, error(of: answer) == "use_dpop_nonce" else {
            return nil
        }
        return answer.headers.first("DPoP-Nonce")
    }

    static func answer(_ outcome: HTTPOutcome, of endpoint: ProviderEndpoint) -> ProbeAnswer {
        switch outcome {
        case .lost(let reason), .unsent(let reason):
            return .unclear("\(endpoint.url): \(reason.explanation)")
        case .answer(let answer):
            guard let error = error(of: answer), (400...499).contains(answer.status) else {
                return .unclear("\(endpoint.url): answered \(answer.status)")
            }
            // 401 stands for a client that was not authenticated, whatever the word (RFC 6749 §5.2).
            switch (error, answer.status) {
            case ("invalid_grant", _): return .accepted
            case ("use_dpop_nonce", _), ("invalid_dpop_proof", _):
                return .unclear("\(endpoint.url): did not take the DPoP proof (\(error))")
            case ("invalid_client", _), (_, 401):
                let description = document(answer)?["error_description"]?.string
                return .refused(error: error, description: description)
            default:
                return .refusedOtherwise(
                    error: error,
                    "\(endpoint.url): answered \(answer.status) with \(ForeignText.shown(error))")
            }
        }
    }

    private static func document(_ answer: HTTPAnswer) -> JSONValue? {
        answer.isOversized ? nil : try? JSONValue(parsing: answer.body)
    }

    private static func error(of answer: HTTPAnswer) -> String? {
        document(answer)?["error"]?.string
    }
}

extension ProbeAnswer: CustomStringConvertible {
    var description: String {
        switch self {
        case .accepted: "accepted"
        case .refused(let error, let description):
            "refused: \(ForeignText.shown(error))"
                + (description.map { ", \(ForeignText.shown($0))" } ?? "")
        case .refusedOtherwise(_, let text), .unclear(let text): text
        }
    }
}
