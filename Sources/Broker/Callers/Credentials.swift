import JOSE
import SocketServer

/// What a request brings to show who asks, before anything of it is believed.
struct Credentials: Sendable {
    let token: Secret<String>?
    let proof: Secret<String>?
    /// Verified by the server already: it is there or the connection is not.
    let certificate: ClientCertificate?

    /// Reads `Authorization` and `DPoP`, and takes the connection's certificate.
    ///
    /// - Throws: `callerUnauthenticated` when there is none of them, `malformedRequest` for a repeated field (RFC 9110 §5.3), and
    ///   `callerUnauthenticated` for another scheme or an empty token.
    init(_ head: HTTPRequestHead) throws(BrokerError) {
        let headers = head.headers
        certificate = head.clientCertificate
        guard headers.count("dpop") <= 1 else { throw .malformedRequest("DPoP is repeated") }
        token = try Self.anyToken(headers)
        proof = headers.first("dpop").map { Secret($0) }
        guard token != nil || proof != nil || certificate != nil else {
            throw .callerUnauthenticated(.missing)
        }
    }

    /// The token of a call that takes nothing else.
    ///
    /// - Throws: as `init`.
    static func token(_ head: HTTPRequestHead) throws(BrokerError) -> Secret<String> {
        guard let token = try anyToken(head.headers) else {
            throw .callerUnauthenticated(.missing)
        }
        return token
    }

    private static func anyToken(_ headers: HTTPHeaders) throws(BrokerError) -> Secret<String>? {
        guard headers.count("authorization") <= 1 else {
            throw .malformedRequest("Authorization is repeated")
        }
        guard let field = headers.first("authorization") else { return nil }
        guard let token = bearerToken(field) else { throw .callerUnauthenticated(.malformed) }
        return Secret(token)
    }

    /// The token68 of `Bearer <token>` (RFC 6750 §2.1); the scheme in any letter case, one blank.
    private static func bearerToken(_ field: String) -> String? {
        let scheme = field.utf8.prefix(6)
        let token = field.utf8.dropFirst(7)
        guard scheme.elementsEqual("bearer".utf8, by: { $0 | 0x20 == $1 }),
            field.utf8.dropFirst(6).first == UInt8(ascii: " "), (1...512).contains(token.count),
            !token.contains(UInt8(ascii: " "))
        else { return nil }
        return String(Substring(token))
    }
}
