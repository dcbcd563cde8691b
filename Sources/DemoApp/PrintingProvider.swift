import ClientShim
import JOSE
import Synchronization

/// Shows what each assertion is (its id and key id, never the assertion) and counts them.
final class PrintingProvider: ClientAssertionProvider {
    private let wrapped: any ClientAssertionProvider
    private let seen = Mutex<[String]>([])

    init(_ wrapped: any ClientAssertionProvider) {
        self.wrapped = wrapped
    }

    /// The `jti` of every assertion so far.
    var jtis: [String] { seen.withLock { $0 } }

    func clientAssertion(request: ClientAssertionRequest) throws -> String {
        let assertion: String
        do {
            assertion = try wrapped.clientAssertion(request: request)
        } catch ClientAssertionError.Unavailable(let details) {
            report("assertion", "not minted: \(details)")
            throw ClientAssertionError.Unavailable(details: details)
        }
        let jws = try CompactJWS(parsing: assertion.utf8)
        let jti = try jws.claims()["jti"]?.string ?? "none"
        seen.withLock { $0.append(jti) }
        report("assertion minted", "jti=\(jti) kid=\(jws.kid ?? "none")")
        return assertion
    }
}
