import JOSE
import Synchronization

/// Refuses locally what the provider would refuse anyway, or what must not leave the device (R-101-09).
final class ClientAssertionCheck: Sendable {
    private let previousJti = Mutex<String?>(nil)

    /// - Throws: `Unavailable` naming the first rule that is broken, never the assertion.
    func check(
        _ assertion: Secret<String>, for request: ClientAssertionRequest
    ) throws(ClientAssertionError) {
        guard let jwt = UnverifiedJWT(assertion.expose()) else {
            throw .Unavailable(details: "the assertion is not a compact JWS")
        }
        guard jwt.algorithm != nil else {
            throw .Unavailable(details: "the assertion's alg is neither ES256 nor PS256")
        }
        guard jwt.claims["aud"]?.string == request.audience else {
            throw .Unavailable(details: "the assertion's aud is not the issuer")
        }
        guard jwt.claims["iss"]?.string == request.clientId,
            jwt.claims["sub"]?.string == request.clientId
        else { throw .Unavailable(details: "the assertion's iss or sub is not the client id") }
        guard let jti = jwt.claims["jti"]?.string, !jti.isEmpty else {
            throw .Unavailable(details: "the assertion has no jti")
        }
        let isNew = previousJti.withLock { previous in
            defer { previous = jti }
            return previous != jti
        }
        guard isNew else { throw .Unavailable(details: "the assertion was used before") }
    }
}
