import Synchronization

/// Sends an app's requests with the session attached (R-000-40 to R-000-49).
public final class DPoPHTTP: Sendable {
    private let core: AuthnCore
    private let allowed: Mutex<Set<String>?>

    /// A longer answer body counts as a lost connection, unless the request says otherwise.
    public static let maximumAnswerBytes = 64 << 20

    /// The helper of that `Authn`'s session.
    public convenience init(_ authn: Authn) {
        self.init(core: authn.core)
    }

    init(core: AuthnCore) {
        self.core = core
        allowed = Mutex(nil)
    }

    /// The only origins that get the token, such as `https://api.example`; `nil` means every `https`
    /// origin (R-000-49). Text that is no origin is left out.
    public var allowedOrigins: Set<String>? {
        get { allowed.withLock { $0 } }
        set {
            let origins = newValue.map { Set($0.compactMap { RequestURL($0)?.origin }) }
            allowed.withLock { $0 = origins }
        }
    }

    /// Sends the request, refreshing before and repeating after as the rules allow; gives the last
    /// answer, unchanged. Redirects are answers like any other.
    /// - Throws: `connectionLost` when no answer came, or when the session's token has expired and the
    ///   provider could not be reached for another.
    public func data(for request: HTTPRequest) async throws(DPoPHTTPError) -> HTTPAnswer {
        guard let target = RequestURL(request.url) else { throw .invalidURL }
        guard mayCarryToken(target) else { return try await send(request) }
        var call = DPoPHTTPCall(canRepeat: request.body.isReplayable)
        var session = try await usableSession(&call)
        while let record = session {
            guard let attachment = await core.attach(record, method: request.method, target) else {
                // The key went away between the look and the signature: no session any more.
                return try await learn(from: send(request), target)
            }
            let answer = try await learn(
                from: send(request.attaching(attachment.headers)), target)
            let nonce = NonceTable.nonce(in: answer)
            let isFresh = nonce != nil && nonce != attachment.nonce
            switch call.next(after: answer, hasFreshNonce: isFresh, record) {
            case .give: return answer
            case .repeatWithNonce: continue
            case .refreshAndRepeat:
                guard let refreshed = try? await core.refresh(seen: record) else { return answer }
                session = refreshed
            }
        }
        return try await learn(from: send(request), target)
    }

    /// The same with a body from a source that is read once; such a request is never repeated.
    public func upload(
        _ request: HTTPRequest, from source: @escaping @Sendable () throws -> [UInt8]?
    ) async throws(DPoPHTTPError) -> HTTPAnswer {
        var request = request
        request.body = .oneShot(source)
        return try await data(for: request)
    }

    private func mayCarryToken(_ target: RequestURL) -> Bool {
        target.isSecure && (allowed.withLock { $0 }?.contains(target.origin) ?? true)
    }

    /// The session to attach, refreshed ahead of its expiry (R-000-42 to R-000-44).
    private func usableSession(
        _ call: inout DPoPHTTPCall
    ) async throws(DPoPHTTPError) -> SessionRecord? {
        let stored = await core.storedSession()
        guard let record = stored else { return nil }
        guard record.needsRefresh(at: core.environment.clock.now()) else { return record }
        call.hasRefreshed = true
        do {
            return try await core.refresh(seen: record)
        } catch .SignInRequired {
            return nil
        } catch {
            guard !record.isExpired(at: core.environment.clock.now()) else { throw .connectionLost }
            return record
        }
    }

    /// Nonce and clock of an origin that gets proofs, from whatever it answers (R-100-32, R-100-35): a refusal of a request
    /// without a session comes before the sign-in that needs both.
    private func learn(from answer: HTTPAnswer, _ target: RequestURL) -> HTTPAnswer {
        core.nonces.record(answer, from: target.origin)
        let now = core.environment.clock.now()
        if case .tooLarge = core.offsets.learn(answer, from: target.origin, now: now) {
            core.environment.onDiagnostic?(
                DiagnosticEvent(
                    flow: "session", step: "clock", outcome: .clockOffsetTooLarge,
                    status: answer.status, error: nil, elapsedMilliseconds: 0,
                    jktPrefix: core.vault.lastSeen.map { String($0.dpopJkt.prefix(8)) }))
        }
        return answer
    }

    private func send(_ request: HTTPRequest) async throws(DPoPHTTPError) -> HTTPAnswer {
        guard case .answer(let answer) = await core.environment.transport.send(request),
            !answer.isOversized
        else { throw .connectionLost }
        return answer
    }
}

/// Why `DPoPHTTP` has no answer to give.
public enum DPoPHTTPError: Error, Equatable, Sendable {
    /// The URL is no absolute http(s) URL.
    case invalidURL
    /// No answer came; not a reason to sign in again.
    case connectionLost
}

extension HTTPRequest {
    /// This request with exactly one `Authorization` and one `DPoP` line, whatever it held before.
    fileprivate func attaching(_ lines: [HTTPHeader]) -> HTTPRequest {
        var request = self
        request.headers.removeAll { ["authorization", "dpop"].contains($0.name.lowercased()) }
        request.headers += lines
        return request
    }
}
