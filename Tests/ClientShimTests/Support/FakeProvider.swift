import JOSE
import Synchronization

@testable import ClientShim

/// A provider with its portal and an API in one function, strict about what an app must get right: every
/// proof and assertion once, the nonce, the same key throughout, device requests by the enrolled key.
/// Faults are told per call; what is lost on the way back has happened all the same.
final class FakeProvider: Sendable {
    /// Which call.
    enum Call: String, Sendable, CaseIterable {
        case discovery, start, faceToken, completion, token, refresh, revocation, abort, api
    }

    /// What goes wrong with one attempt of a call.
    enum Fault: Sendable {
        /// The request never arrives.
        case loseRequest
        /// It arrives; the answer does not.
        case loseAnswer
        /// Something else is answered, and nothing happens.
        case answer(HTTPAnswer)
        /// It happens, and something else is answered.
        case answerAfter(HTTPAnswer)
    }

    struct State {
        var faults: [Call: [Fault]] = [:]
        var counts: [Call: Int] = [:]
        var violations: [String] = []
        var proofs: Set<String> = []
        var assertions: Set<String> = []
        var nonce = 1
        var demandsNonce = false
        var session: Session?
        var code: String?
        var completions: [String] = []
        var grants: [String: Grant] = [:]
        var nextId = 0
        var tokenResponse: [String: String] = [:]
        var idTokenClaims: [String: String] = [:]
        var faceTokenResponse: [String: String] = [:]
        var faceToken = "scripted-face:one.0"
        var aborts: [String] = []
        var forms: [(call: Call, form: [String: String])] = []
        var metadata: [String: String] = [:]
        var dateOffset: Int64?
        var apiAnswers: [HTTPAnswer] = []
        var apiRequests: [HTTPRequest] = []
    }

    struct Session {
        var authSession: String
        let sid: String
        let jkt: String
        let challenge: String
        let nonce: String
        let hintIsKnown: Bool
    }

    struct Grant {
        var accessToken: String
        var refreshToken: String
        let jkt: String
        var isLive = true
    }

    let issuer: String
    let email: String
    let clock: ManualClock
    let enrolledKey: PublicJWK
    let state = Mutex(State())

    init(issuer: String, deviceKey: PublicJWK, email: String, clock: ManualClock) {
        self.issuer = issuer
        enrolledKey = deviceKey
        self.email = email
        self.clock = clock
    }

    // MARK: - For tests

    func set(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }
    func plan(_ call: Call, _ faults: [Fault]) { set { $0.faults[call] = faults } }
    func count(_ call: Call) -> Int { state.withLock { $0.counts[call] ?? 0 } }
    var violations: [String] { state.withLock { $0.violations } }
    var liveGrants: Int { state.withLock { $0.grants.values.count(where: \.isLive) } }
    var aborts: [String] { state.withLock { $0.aborts } }

    func forms(_ call: Call) -> [[String: String]] {
        state.withLock { $0.forms.filter { $0.call == call }.map(\.form) }
    }

    // MARK: - The wire

    func answer(_ request: HTTPRequest) async -> HTTPOutcome {
        let path = String(request.url.dropFirst(issuer.count))
        let form = Self.form(request)
        guard let call = Self.call(path, form, issuer: issuer, request) else {
            return .answer(HTTPAnswer(status: 404))
        }
        let fault: Fault? = state.withLock { state in
            state.counts[call, default: 0] += 1
            if !form.isEmpty { state.forms.append((call, form)) }
            guard var faults = state.faults[call], !faults.isEmpty else { return nil }
            let fault = faults.removeFirst()
            state.faults[call] = faults
            return fault
        }
        switch fault {
        case .loseRequest: return .unsent(.unreachable)
        case .answer(let answer): return .answer(answer)
        case .loseAnswer:
            _ = serve(call, request, form)
            return .lost(.broken)
        case .answerAfter(let answer):
            _ = serve(call, request, form)
            return .answer(answer)
        case nil: return .answer(serve(call, request, form))
        }
    }

    private func serve(
        _ call: Call, _ request: HTTPRequest, _ form: [String: String]
    ) -> HTTPAnswer {
        state.withLock { state in
            var answer = serve(call, request, form, &state)
            if let offset = state.dateOffset {
                answer.headers.append(HTTPHeader("Date", Self.date(clock.now() + offset)))
            }
            return answer
        }
    }

    private func serve(
        _ call: Call, _ request: HTTPRequest, _ form: [String: String], _ state: inout State
    ) -> HTTPAnswer {
        if call == .discovery { return metadata(state) }
        if call == .api { return api(request, &state) }
        guard let proof = checkProof(request, &state) else {
            return Self.error(400, "invalid_dpop_proof")
        }
        checkAssertion(form, &state)
        let sentNonce = proof.claims["nonce"]?.string
        if state.demandsNonce, sentNonce != "nonce-\(state.nonce)" {
            state.nonce += 1
            var answer = Self.error(400, "use_dpop_nonce")
            answer.headers.append(HTTPHeader("DPoP-Nonce", "nonce-\(state.nonce)"))
            return answer
        }
        return switch call {
        case .start: start(form, proof.jkt, &state)
        case .faceToken: faceToken(request, proof.jkt, &state)
        case .completion: completion(form, proof.jkt, &state)
        case .token: token(form, proof.jkt, &state)
        case .refresh: refresh(form, proof.jkt, &state)
        case .revocation: revoke(form, &state)
        case .abort: abort(request, &state)
        case .discovery, .api: HTTPAnswer(status: 500)
        }
    }

    // MARK: - Calls

    private func metadata(_ state: State) -> HTTPAnswer {
        var members = [
            "issuer": "\"\(issuer)\"",
            "authorization_challenge_endpoint": "\"\(issuer)/challenge\"",
            "token_endpoint": "\"\(issuer)/token\"",
            "revocation_endpoint": "\"\(issuer)/revoke\"",
            "device_portal_endpoint": "\"\(issuer)/portal\"",
        ]
        members.merge(state.metadata) { $1 }
        return Self.json(200, members)
    }

    private func start(
        _ form: [String: String], _ jkt: String, _ state: inout State
    ) -> HTTPAnswer {
        state.nextId += 1
        let session = Session(
            authSession: "auth-session-\(state.nextId)", sid: "sid-\(state.nextId)", jkt: jkt,
            challenge: form["code_challenge"] ?? "", nonce: form["nonce"] ?? "",
            hintIsKnown: form["login_hint"] == email)
        state.session = session
        return Self.json(
            400,
            [
                "error": "\"insufficient_authorization\"",
                "auth_session": "\"\(session.authSession)\"",
                "ceremony": #"{"kind":"face","sid":"\#(session.sid)","expires_in":300}"#,
            ])
    }

    private func faceToken(
        _ request: HTTPRequest, _ jkt: String, _ state: inout State
    ) -> HTTPAnswer {
        guard let session = state.session, session.hintIsKnown,
            deviceRequest(request, "face_token", session, &state) != nil
        else { return Self.error(404, "ceremony_unavailable") }
        var members = [
            "face_token": "\"\(state.faceToken)\"", "password_protected": "false",
            "branding": #"{"organisation":"Bank"}"#, "pki": #"{"available":false}"#,
            "expires_at": "\(clock.now() + 300)",
        ]
        members.merge(state.faceTokenResponse) { $1 }
        return Self.json(200, members)
    }

    private func completion(
        _ form: [String: String], _ jkt: String, _ state: inout State
    ) -> HTTPAnswer {
        guard let session = state.session, session.jkt == jkt,
            form["auth_session"] == session.authSession
        else { return Self.error(400, "invalid_session") }
        let response = form["ceremony_response"] ?? ""
        guard let request = signed(Array(response.utf8), &state),
            request["act"]?.string == "complete",
            request["match"]?["verdict"]?.string == "match",
            let rotated = request["face_token"]?.string
        else { return Self.error(400, "invalid_request") }
        state.completions.append(response)
        state.faceToken = rotated
        state.nextId += 1
        state.code = "code-\(state.nextId)"
        return Self.json(200, ["authorization_code": "\"code-\(state.nextId)\""])
    }

    private func token(
        _ form: [String: String], _ jkt: String, _ state: inout State
    ) -> HTTPAnswer {
        let verifier = form["code_verifier"] ?? ""
        guard let session = state.session, session.jkt == jkt, form["code"] == state.code,
            state.code != nil,
            Base64URL.encode(SHA256.hash(verifier.utf8)) == session.challenge
        else { return Self.error(400, "invalid_grant") }
        state.code = nil
        // R-000-25: what a lost exchange of this session issued is taken back.
        for id in state.grants.keys where id.hasPrefix(session.sid) {
            state.grants[id]?.isLive = false
        }
        return issue("\(session.sid)/\(state.nextId)", jkt, nonce: session.nonce, &state)
    }

    private func refresh(
        _ form: [String: String], _ jkt: String, _ state: inout State
    ) -> HTTPAnswer {
        let token = form["refresh_token"] ?? ""
        guard let id = state.grants.first(where: { $0.value.refreshToken == token })?.key,
            state.grants[id]?.isLive == true, state.grants[id]?.jkt == jkt
        else {
            state.violations.append("refresh token is unknown, spent, revoked or another key's")
            return Self.error(400, "invalid_grant")
        }
        return issue(id, jkt, nonce: nil, &state)
    }

    private func issue(
        _ id: String, _ jkt: String, nonce: String?, _ state: inout State
    ) -> HTTPAnswer {
        state.nextId += 1
        let grant = Grant(
            accessToken: "access-\(state.nextId)", refreshToken: "refresh-\(state.nextId)",
            jkt: jkt)
        state.grants[id] = grant
        var claims = [
            "iss": "\"\(issuer)\"", "sub": "\"user-1\"", "aud": "\"app\"",
            "exp": "\(clock.now() + (state.dateOffset ?? 0) + 600)",
            "iat": "\(clock.now() + (state.dateOffset ?? 0))",
        ]
        if let nonce { claims["nonce"] = "\"\(nonce)\"" }
        claims.merge(state.idTokenClaims) { $1 }
        let header = claims.removeValue(forKey: "header") ?? #"{"alg":"ES256","kid":"idp"}"#
        let payload =
            "{" + claims.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
        let idToken = [header, payload, "signature"].map { Base64URL.encode($0.utf8) }
            .joined(separator: ".")
        var members = [
            "access_token": "\"\(grant.accessToken)\"", "token_type": "\"DPoP\"",
            "expires_in": "300", "refresh_token": "\"\(grant.refreshToken)\"",
            "id_token": "\"\(idToken)\"", "scope": "\"openid offline_access\"",
        ]
        members.merge(state.tokenResponse) { $1 }
        return Self.json(200, members.filter { $0.value != "absent" })
    }

    private func revoke(_ form: [String: String], _ state: inout State) -> HTTPAnswer {
        for (id, grant) in state.grants
        where [grant.refreshToken, grant.accessToken].contains(form["token"] ?? "") {
            state.grants[id]?.isLive = false
        }
        return HTTPAnswer(status: 200)
    }

    private func abort(_ request: HTTPRequest, _ state: inout State) -> HTTPAnswer {
        guard let session = state.session,
            let claims = deviceRequest(request, "abort", session, &state)
        else { return Self.error(404, "ceremony_unavailable") }
        state.aborts.append(claims["fail_reason"]?.string ?? "")
        return HTTPAnswer(status: 204)
    }

    private func api(_ request: HTTPRequest, _ state: inout State) -> HTTPAnswer {
        state.apiRequests.append(request)
        if !state.apiAnswers.isEmpty { return state.apiAnswers.removeFirst() }
        return HTTPAnswer(status: 200, body: Array("ok".utf8))
    }
}
