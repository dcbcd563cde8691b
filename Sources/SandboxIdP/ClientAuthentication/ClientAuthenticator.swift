import JOSE
import SocketServer
import Synchronization

/// Authenticates clients by `private_key_jwt`, the only method there is here.
struct ClientAuthenticator: Sendable {
    let issuer: String
    let environment: Environment
    let state: SharedState

    /// The client behind a request.
    ///
    /// The assertion's `jti` is spent once signature and claims hold, whatever becomes of the request after that.
    func authenticate(
        _ credential: ClientCredential
    ) async throws(OAuthFault) -> AuthenticatedClient {
        do { return try await check(credential) } catch {
            switch error {
            case .refused(let fault): throw .invalidClient(fault)
            case .keysUnavailable: throw .keysUnavailable
            }
        }
    }

    private enum Failure: Error {
        case refused(ClientFault)
        case keysUnavailable
    }

    private func check(
        _ credential: ClientCredential
    ) async throws(Failure) -> AuthenticatedClient {
        let assertion = try refusing { () throws(ClientFault) in
            try ClientAssertion(parsing: credential.assertion)
        }
        guard credential.clientId == nil || credential.clientId == assertion.clientId else {
            throw .refused(.clientIdMismatch)
        }
        guard let client = state.change({ $0.clients[assertion.clientId] }) else {
            throw .refused(.unknownClient)
        }
        let keys = try await keys(of: client, for: assertion)
        guard !keys.isEmpty else { throw .refused(.noSuchKey) }
        guard assertion.isSigned(byOneOf: keys) else { throw .refused(.signature) }
        let now = environment.now()
        let checked = try refusing { () throws(ClientFault) in
            try assertion.check(issuer: issuer, now: now)
        }
        let isFirstUse = state.change { state in
            state.assertions.spend(
                "\(checked.clientId) \(checked.jti)", until: checked.expiresAt + 60, now: now)
        }
        guard isFirstUse else { throw .refused(.reused) }
        return AuthenticatedClient(client: client, boundJkt: checked.boundJkt)
    }

    private func keys(
        of client: Client, for assertion: ClientAssertion
    ) async throws(Failure) -> [PublicJWK] {
        do {
            let set = try await environment.clientKeys.keys(
                of: client, containing: assertion.kid, now: environment.now())
            return set.candidates(kid: assertion.kid, algorithm: assertion.algorithm)
        } catch {
            throw .keysUnavailable
        }
    }

    private func refusing<Value>(
        _ body: () throws(ClientFault) -> Value
    ) throws(Failure) -> Value {
        do { return try body() } catch { throw .refused(error) }
    }
}

/// A client that proved who it is for this one request.
struct AuthenticatedClient: Sendable {
    let client: Client
    /// The install key its assertion is bound to, when it names one.
    let boundJkt: DpopJkt?
}
