import JOSE
import Synchronization
import TestKit

@testable import ClientShim

/// Makes assertions that pass the local checks, counts the calls, and has none when told so.
final class FakeAssertions: ClientAssertionProvider {
    private struct State {
        var requests: [ClientAssertionRequest] = []
        var failures: Set<Int> = []
        var made: [String] = []
    }

    private let state = Mutex(State())

    /// - Parameter failing: the calls, counted from 1, that have no assertion.
    init(failing: Set<Int> = []) {
        state.withLock { $0.failures = failing }
    }

    var requests: [ClientAssertionRequest] { state.withLock { $0.requests } }
    /// Every assertion given out.
    var made: [String] { state.withLock { $0.made } }

    func clientAssertion(request: ClientAssertionRequest) throws -> String {
        try state.withLock { state in
            state.requests.append(request)
            guard !state.failures.contains(state.requests.count) else {
                throw ClientAssertionError.Unavailable(details: "told so")
            }
            let assertion = Self.assertion(for: request, jti: "jti-\(state.requests.count)")
            state.made.append(assertion)
            return assertion
        }
    }

    /// An assertion with a signature of zeros; `change` replaces members of its claims or header.
    static func assertion(
        for request: ClientAssertionRequest, jti: String,
        header: String = #"{"alg":"ES256","kid":"k","typ":"client-authentication+jwt"}"#,
        claims change: (inout [(String, String)]) -> Void = { _ in }
    ) -> String {
        var claims = [
            ("iss", "\"\(request.clientId)\""), ("sub", "\"\(request.clientId)\""),
            ("aud", "\"\(request.audience)\""), ("jti", "\"\(jti)\""), ("exp", "1800000060"),
        ]
        change(&claims)
        let payload = "{" + claims.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
        let signature = Base64URL.encode([UInt8](repeating: 0, count: 64))
        return "\(Base64URL.encode(header.utf8)).\(Base64URL.encode(payload.utf8)).\(signature)"
    }
}
