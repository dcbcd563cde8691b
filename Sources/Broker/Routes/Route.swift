import AssertionMint
import SocketServer

/// The calls of the public interface (`design.md` §3).
enum Route: Equatable, Sendable {
    case mint
    case keySet(ClientId)
    case liveness
    case readiness

    /// The route of a request's path and method.
    ///
    /// - Throws: `notFound` or `methodNotAllowed`.
    init(_ head: HTTPRequestHead) throws(BrokerError) {
        let (route, methods) = try Self.route(head.path)
        guard methods.contains(head.method) else {
            throw .methodNotAllowed(allow: methods.joined(separator: ", "))
        }
        self = route
    }

    private static func route(_ path: String) throws(BrokerError) -> (Route, methods: [String]) {
        switch path {
        case "/v1/assertions": return (.mint, ["POST"])
        case "/healthz": return (.liveness, ["GET", "HEAD"])
        case "/readyz": return (.readiness, ["GET", "HEAD"])
        default:
            let segments = path.split(separator: "/", omittingEmptySubsequences: false)
            guard segments.count == 5, segments[0].isEmpty, segments[1] == "v1",
                segments[2] == "clients",
                segments[4] == "jwks.json",
                let id = percentDecoded(segments[3]).flatMap(ClientId.init)
            else { throw .notFound }
            return (.keySet(id), ["GET", "HEAD"])
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
