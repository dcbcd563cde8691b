import AssertionMint
import JOSE

/// Every way a request can end without what it asked for, in the broker's words.
///
/// What the caller reads is made of it in `Problem`; the log gets `cause`.
enum BrokerError: Error, Sendable, Equatable {
    /// The body is not the JSON that was asked for; names the member, or the body itself.
    case malformedRequest(String)
    /// The client has no tokens of the kind that was asked for.
    case kindNotEnabled
    /// The audience is none of the client's issuers, character for character.
    case audienceNotAllowed
    /// No credential that is accepted here, or one that is not good.
    case callerUnauthenticated(CallerFault)
    /// The DPoP proof needs a nonce of ours.
    case useDpopNonce
    /// The DPoP proof is not good.
    case invalidDpopProof(DPoPError)
    /// The DPoP proof was used before.
    case dpopProofReplayed
    /// The credential is good, but not for this client.
    case callerNotAllowed
    /// The token is good, but its scopes do not cover this call; names the one that would.
    case scopeMissing(APIToken.Scope)
    /// This install was blocked.
    case installBlocked
    /// No such client; only ever told to a caller with a good token.
    case unknownClient
    /// The assertion to be consumed is not acceptable.
    case assertionRefused(AssertionFault)
    /// The assertion to be consumed was used before.
    case assertionUsed
    /// A limit has no permit left.
    case rateLimited(RatePolicy, waitMicroseconds: Int64)
    /// The credential is not good, or was not even looked at, and too many from this address were not; `cause` is for the log.
    case tooManyFailures(RatePolicy, waitMicroseconds: Int64, cause: String?)
    /// Nothing can be issued now.
    case unavailable(Outage)
    /// No such path.
    case notFound
    /// The path exists, not for this method; names those it has.
    case methodNotAllowed(allow: String)
    /// The body's type is not JSON, or it is encoded.
    case unsupportedMediaType
    /// The HTTP message itself was refused.
    case http(status: Int, reason: String)
}

/// Why a credential was not accepted. For the log; the caller gets one sentence for all.
enum CallerFault: String, Sendable {
    case missing = "no credential"
    case malformed = "malformed Authorization field"
    case unknownToken = "unknown token"
    case revokedToken = "revoked token"
    case expiredToken = "expired token"
    case noGate = "no gate of the client is passed"
}

/// Why an assertion to be consumed is not acceptable. For the log; the caller gets one sentence for all.
enum AssertionFault: Sendable, Equatable {
    /// It cannot be taken apart, or names no possible client.
    case malformed(ClientAssertionError)
    /// There is no such client.
    case unknownClient
    /// The client belongs to another tenant than the token.
    case foreignClient
    /// One of the checks failed that its client's verifier makes.
    case notGood(ClientAssertionError)
    /// It is bound to an install that was blocked since.
    case blockedInstall

    /// For the log; never a value from outside.
    var cause: String {
        switch self {
        case .malformed(let error): "not an assertion: \(error)"
        case .unknownClient: "unknown client"
        case .foreignClient: "the client of another tenant"
        case .notGood(let error): "not good: \(error)"
        case .blockedInstall: "its install is blocked"
        }
    }
}

/// Why nothing can be issued. For the log.
enum Outage: Sendable, Equatable {
    /// The store could not commit.
    case store(StoreFault)
    /// The client's active key cannot be used.
    case key(String)
    /// The declaration kept changing while the request was decided.
    case unsettled
    /// No declaration has been loaded yet.
    case notReady
    /// The log cannot take the event that every mint must leave.
    case logStalled
    /// The random generator gave nothing.
    case randomness
    /// The service is draining.
    case stopping
}

extension BrokerError {
    /// Whether somebody showed nothing, or something that is not good. A nonce that is missing or old is no failure: everybody's
    /// first proof lacks one.
    var isFailedAuthentication: Bool {
        switch self {
        case .callerUnauthenticated, .invalidDpopProof, .dpopProofReplayed: true
        case .malformedRequest, .kindNotEnabled, .audienceNotAllowed, .useDpopNonce,
            .callerNotAllowed, .scopeMissing, .installBlocked, .unknownClient, .assertionRefused,
            .assertionUsed,
            .rateLimited, .tooManyFailures, .unavailable,
            .notFound, .methodNotAllowed, .unsupportedMediaType, .http:
            false
        }
    }

    /// Whether the same request would be refused again, for what it says and not for who sends it.
    var refusesForGood: Bool {
        switch self {
        case .malformedRequest, .kindNotEnabled, .audienceNotAllowed, .callerNotAllowed,
            .installBlocked:
            true
        case .callerUnauthenticated, .useDpopNonce, .invalidDpopProof, .dpopProofReplayed,
            .scopeMissing, .unknownClient, .assertionRefused, .assertionUsed, .rateLimited,
            .tooManyFailures, .unavailable, .notFound, .methodNotAllowed, .unsupportedMediaType,
            .http:
            false
        }
    }

    /// The limit that refused, and how long it will.
    var limit: (policy: RatePolicy, waitMicroseconds: Int64)? {
        switch self {
        case .rateLimited(let policy, let wait), .tooManyFailures(let policy, let wait, _):
            (policy, wait)
        default: nil
        }
    }

    /// The cause for the log, where it says more than the answer's code; never a value from outside.
    var cause: String? {
        switch self {
        case .malformedRequest(let what): what
        case .callerUnauthenticated(let fault): fault.rawValue
        case .invalidDpopProof(let error): String(describing: error)
        case .scopeMissing(let scope): "token without the scope \(scope.rawValue)"
        case .assertionRefused(let fault): fault.cause
        case .unavailable(let outage): String(describing: outage)
        case .http(_, let reason): reason
        case .tooManyFailures(_, _, let cause): cause
        case .dpopProofReplayed: "the proof was used before"
        case .kindNotEnabled, .audienceNotAllowed, .useDpopNonce, .callerNotAllowed,
            .installBlocked, .unknownClient, .assertionUsed, .rateLimited, .notFound,
            .methodNotAllowed,
            .unsupportedMediaType:
            nil
        }
    }
}
