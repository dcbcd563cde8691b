import AssertionMint
import SocketServer

/// The calls of the public interface (`design.md` §3).
enum Route: Equatable, Sendable {
    case mint(TokenKind)
    case consume
    case keySet(ClientId)
    case liveness
    case readiness
    case description

    /// The route of a request's path and method.
    ///
    /// - Throws: `notFound` or `methodNotAllowed`.
    init(_ head: HTTPRequestHead) throws(BrokerError) {
        self = try Self.route(head.path)
        guard pattern.methods.contains(head.method) else {
            throw .methodNotAllowed(allow: pattern.methods.joined(separator: ", "))
        }
    }

    var pattern: RoutePattern {
        switch self {
        case .mint(.clientAssertion): .clientAssertion
        case .mint(.transportToken): .transportToken
        case .mint(.clientAttestation): .clientAttestation
        case .consume: .consume
        case .keySet: .keySet
        case .liveness: .liveness
        case .readiness: .readiness
        case .description: .description
        }
    }

    private static func route(_ path: String) throws(BrokerError) -> Route {
        switch RoutePattern(rawValue: path) {
        case .clientAssertion: return .mint(.clientAssertion)
        case .transportToken: return .mint(.transportToken)
        case .clientAttestation: return .mint(.clientAttestation)
        case .consume: return .consume
        case .liveness: return .liveness
        case .readiness: return .readiness
        case .description: return .description
        case .keySet, nil:
            let segments = path.split(separator: "/", omittingEmptySubsequences: false)
            guard segments.count == 5, segments[0].isEmpty, segments[1] == "v1",
                segments[2] == "clients",
                segments[4] == "jwks.json",
                let id = percentDecoded(segments[3]).flatMap(ClientId.init)
            else { throw .notFound }
            return .keySet(id)
        }
    }

    /// One path segment decoded once; `nil` when it is not UTF-8 afterwards. The server has checked the escapes.
    private static func percentDecoded(_ segment: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = segment.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16),
                rest.count >= 2
            else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// A route's path as `docs/openapi.json` writes it, with the methods it has there.
enum RoutePattern: String, CaseIterable, Sendable {
    case clientAssertion = "/v1/assertions"
    case transportToken = "/v1/transport-tokens"
    case clientAttestation = "/v1/client-attestations"
    case consume = "/v1/assertions/consume"
    case keySet = "/v1/clients/{client_id}/jwks.json"
    case liveness = "/healthz"
    case readiness = "/readyz"
    case description = "/openapi.json"

    var methods: [String] {
        switch self {
        case .clientAssertion, .transportToken, .clientAttestation, .consume: Self.post
        case .keySet, .liveness, .readiness, .description: Self.get
        }
    }

    private static let post = ["POST"]
    private static let get = ["GET", "HEAD"]
}
