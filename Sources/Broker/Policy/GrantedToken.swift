import AssertionMint
import JOSE

/// What is made for a caller, with everything it says but its identifier and times.
///
/// The one place where the kinds differ once they are granted: a secret signs transport tokens only, and a client's key
/// everything else.
enum GrantedToken: Sendable {
    case clientAssertion(AssertionSigner, audience: Issuer)
    case transportToken(TransportTokenSigner)
    case clientAttestation(AssertionSigner, AttestationProfile, installKey: PublicJWK)

    var kind: TokenKind {
        switch self {
        case .clientAssertion: .clientAssertion
        case .transportToken: .transportToken
        case .clientAttestation: .clientAttestation
        }
    }

    /// The header's `kid`; a secret has none.
    var kid: String? {
        switch self {
        case .clientAssertion(let signer, _), .clientAttestation(let signer, _, _): signer.kid
        case .transportToken: nil
        }
    }

    /// The header's `alg`.
    var algorithm: String {
        switch self {
        case .clientAssertion(let signer, _), .clientAttestation(let signer, _, _):
            signer.algorithm.rawValue
        case .transportToken: SharedSecret.algorithm
        }
    }

    /// The times one made at `now` (seconds since 1970 UTC, rounded down) carries.
    func times(now: Int64) -> AssertionTimes {
        switch self {
        case .clientAssertion(let signer, _): signer.times(now: now)
        case .transportToken(let signer): signer.times(now: now)
        case .clientAttestation(let signer, let profile, _): signer.times(now: now, of: profile)
        }
    }

    /// The signed token. Blocks where the client's key is in a device.
    func sign(for dpopJkt: DpopJkt, jti: JTI, times: AssertionTimes) throws(KeyError)
        -> Secret<String>
    {
        switch self {
        case .clientAssertion(let signer, let audience):
            try signer.assertion(audience: audience, dpopJkt: dpopJkt, jti: jti, times: times)
        case .transportToken(let signer): try signer.token(jti: jti, times: times)
        case .clientAttestation(let signer, _, let installKey):
            try signer.attestation(of: installKey, jti: jti, times: times)
        }
    }
}

extension GrantedToken {
    /// Decides whether the client has what is asked for.
    ///
    /// - Throws: `kindNotEnabled`, `audienceNotAllowed`, `malformedRequest` for an install's key that is none, and
    ///   `unavailable` when what signs is not at hand.
    init(_ request: MintRequest, client: RegisteredClient, caller: Caller) throws(BrokerError) {
        switch request.wish {
        case .clientAssertion(let wanted):
            guard let audience = client.settings.issuers.first(where: { $0.rawValue == wanted })
            else { throw .audienceNotAllowed }
            self = .clientAssertion(try client.signer, audience: audience)
        case .transportToken:
            switch client.transportTokens {
            case .notEnabled: throw .kindNotEnabled
            case .ready(let signer): self = .transportToken(signer)
            case .unusable(let reason): throw .unavailable(.key(reason))
            }
        case .clientAttestation(let jwk):
            guard let profile = client.settings.attestations else { throw .kindNotEnabled }
            let key = try Self.installKey(jwk, dpopJkt: request.dpopJkt, caller: caller)
            self = .clientAttestation(try client.signer, profile, installKey: key)
        }
    }

    /// The key that an attestation names: the proof's, or the one that a caller who shows no proof vouches for. Always the one
    /// that `dpop_jkt` names, which limits, blocks and the log go by.
    private static func installKey(
        _ jwk: PublicJWK?, dpopJkt: DpopJkt, caller: Caller
    ) throws(BrokerError) -> PublicJWK {
        if let jwk, jwk.thumbprint != dpopJkt.rawValue {
            throw .malformedRequest("dpop_jkt is not the thumbprint of jwk")
        }
        // That its thumbprint is `dpop_jkt` was decided for every kind.
        if let proof = caller.proof { return proof.key }
        guard let jwk else {
            throw .malformedRequest(
                "jwk is missing: without a DPoP proof it says which key to attest")
        }
        // Whether the point is on the curve shows only now, and nobody could ever prove to hold such a key.
        guard Authenticator.takesKey(jwk), (try? PublicKey(jwk)) != nil else {
            throw .malformedRequest("jwk is no key that could make a DPoP proof here")
        }
        return jwk
    }
}

extension RegisteredClient {
    fileprivate var signer: AssertionSigner {
        get throws(BrokerError) {
            switch signing {
            case .ready(let signer): return signer
            case .unusable(let reason): throw .unavailable(.key(reason))
            }
        }
    }
}
