import JOSE

@testable import ClientShim

/// Something that must never be true was.
struct Violation: Sendable, Equatable, CustomStringConvertible {
    let rule: String
    let details: String

    var description: String { details.isEmpty ? rule : "\(rule): \(details)" }
}

/// Watches the wire, the disk and what the app is told, and notes each broken promise.
///
/// Sendable: touched on the run's thread only.
final class Ledger: @unchecked Sendable {
    unowned let world: World
    private(set) var violations: [Violation] = []
    private(set) var flows: [FlowRecord] = []
    private(set) var results: [String] = []

    private(set) lazy var signIns = SignInWatch(world: world)
    private lazy var proofWatch = ProofWatch(world: world)
    /// What the user is doing; `nil` when everything works again.
    var action: Action?

    // What was presented.
    private var proofs: Set<String> = []
    private var assertions: Set<String> = []
    private var codes: Set<String> = []
    /// Challenge and nonce of each start.
    var flowSecrets: Set<[String]> = []
    /// Codes and refresh tokens that were sent back for a nonce alone: one more time is due.
    private var challenged: Set<String> = []
    /// Refresh tokens whose successor is on disk.
    private var retired: Set<String> = []
    /// Refresh tokens that a process has been given a successor of.
    private var spent: [Int: Set<String>] = [:]
    /// Refresh tokens of sign-ins that reached a process, until they are on disk or given back.
    var issued: [String: AppProcess] = [:]
    /// When a process last heard of a refresh, milliseconds since 1970, and what gave it reason for another.
    private var refreshEnds: [Int: Int64] = [:]
    private var lastReasons: [Int: Int64] = [:]
    /// When a process last got the provider's metadata, milliseconds since 1970.
    private(set) var discovered: [Int: Int64] = [:]
    /// Refresh requests without an answer, by process.
    private var refreshesOut: [Int: Int] = [:]

    /// When each process may ask the broker again, milliseconds since 1970.
    private var waitsUntil: [Int: Int64] = [:]

    // What the app asked for.
    var calls: [Int: Call] = [:]
    private var nextCall = 0
    private var signOuts: [Int: Int] = [:]
    /// Refresh tokens that the provider called `invalid_grant`, and the app heard of it.
    private var refused: Set<String> = []

    // The session on disk.
    private(set) var sessionWrites = 0
    /// Access tokens that were on disk, with their sign-in.
    private var durableTokens: [String: String] = [:]
    private var endedGrants: Set<String> = []
    /// Sign-ins that a process signed out, with the newest call at that time.
    private var signedOut: [String: (process: Int, call: Int)] = [:]
    var failedSessionWrites = 0
    weak var lastWriter: AppProcess?
    /// Sessions of new sign-ins that each process stored.
    private var newSessions: [Int: Int] = [:]

    var lines: [String] = []
    var secrets: Set<String> = []

    /// A call of the app that may refresh, and whether it has.
    struct Call {
        let process: AppProcess
        var hasRefreshed = false
        let hadSession: Bool
    }

    init(world: World) { self.world = world }

    func violate(_ rule: String, _ details: String = "") {
        world.trace("VIOLATION \(rule): \(details)", nil)
        violations.append(Violation(rule: rule, details: details))
    }

    /// Keeps what a log, a state or an error says. Making the text is dear, so it is done in every fourth run.
    func log(_ line: @autoclosure () -> String) {
        if world.readsLogs { lines.append(line()) }
    }

    // MARK: - The wire

    func sent(
        _ request: WireRequest, _ exchange: Exchange, _ form: [String: String],
        by process: AppProcess
    ) {
        if let proof = request.header("DPoP") {
            secrets.insert(proof)
            if !proofs.insert(proof).inserted {
                violate("a proof is sent twice", exchange.rawValue)
            }
            proofWatch.sent(proof, request, by: process)
        } else if exchange != .discovery, exchange != .api {
            violate("a request without a proof", exchange.rawValue)
        }
        signIns.sent(request, exchange, form, by: process)
        if let assertion = form["client_assertion"] {
            secrets.insert(assertion)
            if !assertions.insert(assertion).inserted {
                violate("an assertion is sent twice", exchange.rawValue)
            }
            if let asked = process.asked[assertion], !process.wasSuspended,
                world.timeline.milliseconds > asked + 20_500
            {
                violate("an assertion is used that came too late")
            }
        } else if [.start, .completion, .token, .refresh, .revocation].contains(exchange) {
            violate("a request without an assertion", exchange.rawValue)
        }
        check(request, exchange, form, by: process)
        for name in ["code", "code_verifier", "auth_session", "ceremony_response", "refresh_token"]
        {
            if let secret = form[name] { secrets.insert(secret) }
        }
        if exchange == .start, let challenge = form["code_challenge"], let nonce = form["nonce"] {
            flowSecrets.insert([challenge, nonce])
        }
        if exchange == .token, let code = form["code"], !codes.insert(code).inserted,
            challenged.remove(code) == nil
        {
            violate("a code is presented twice")
        }
        if exchange == .refresh, let token = form["refresh_token"] {
            presented(token, by: process)
        }
        if let token = request.header("Authorization")?.split(separator: " ").last {
            secrets.insert(String(token))
            guard let grant = durableTokens[String(token)] else {
                return violate("a token is used before its session is on disk")
            }
            let eldest = calls.filter { $0.value.process === process }.keys.min() ?? .max
            if let end = signedOut[grant], end.process == process.id, eldest > end.call {
                violate("a session is used after sign-out")
            }
        }
    }

    /// What only the request and the disk together tell.
    private func check(
        _ request: WireRequest, _ exchange: Exchange, _ form: [String: String],
        by process: AppProcess
    ) {
        let now = world.timeline.milliseconds
        switch exchange {
        case .discovery:
            // Ten minutes from its request.
            if let last = discovered[process.id], now < last + 570_000 {
                violate("metadata is fetched again that is fresh")
            }
        case .revocation:
            if let token = form["token"] { issued[token] = nil }
            // The record goes, or is replaced, first (R-000-35, R-000-58).
            if let token = form["token"], failedSessionWrites == 0,
                token == world.device.session?.refreshToken?.expose()
            {
                violate("the session on disk is revoked")
            }
        case .api:
            guard world.faults.injected.isEmpty, let session = world.device.session,
                request.header("Authorization")?.hasSuffix(session.accessToken.expose()) == true,
                session.refreshToken != nil, let end = session.expiresAt
            else { return }
            if end - now / 1000 <= 25 { violate("a token is used that should be refreshed first") }
        default: break
        }
    }

    private func presented(_ token: String, by process: AppProcess) {
        let now = world.timeline.milliseconds
        if spent[process.id]?.contains(token) == true {
            violate("a refresh token is presented whose successor was issued")
        }
        if world.device.records[RefreshJournal.recordName] == nil {
            violate("a refresh is out that no journal tells of")
        }
        refreshesOut[process.id, default: 0] += 1
        if retired.contains(token) {
            violate("a refresh token is presented after it was replaced")
        }
        let out = refreshesOut.filter { id, _ in world.isAlive(id) }.values.reduce(0, +)
        if out > 1 { violate("two refreshes are out at once") }
        if challenged.remove(token) != nil { return }
        // Who came while a refresh was out has its result (R-000-52).
        if let end = refreshEnds[process.id], lastReasons[process.id, default: 0] < end - 1_000,
            !process.wasSuspended
        {
            violate("a refresh follows another for the same callers", "\(now - end) ms later")
        }
        // Each call of the app stands for one refresh at most: nothing is sent again by itself.
        let candidates = calls.filter { $0.value.process === process && !$0.value.hasRefreshed }
        guard let call = candidates.keys.min() else {
            return violate("a refresh token is sent again that nobody asked to send")
        }
        calls[call]?.hasRefreshed = true
    }

    /// A mint leaves the device, or its answer is there.
    func mint(
        _ answer: WireAnswer? = nil, to request: WireRequest? = nil, by process: AppProcess
    ) {
        let now = world.timeline.milliseconds
        guard let answer, let request else {
            if now < waitsUntil[process.id, default: 0] { violate("the broker is asked too early") }
            return
        }
        proofWatch.arrived(answer, request, at: process)
        let json = try? JSONValue(parsing: answer.body)
        if let assertion = json?["client_assertion"]?.string {
            process.asked[assertion] = process.asking
        }
        guard answer.status == 429,
            let wait = answer.headers.first(where: { $0.name == "Retry-After" })
                .flatMap({ Int64($0.value) })
        else { return }
        waitsUntil[process.id] = now + wait * 1000
    }

    func arrived(
        _ outcome: WireOutcome, _ request: WireRequest, _ exchange: Exchange,
        _ form: [String: String], at process: AppProcess
    ) {
        let now = world.timeline.milliseconds
        if exchange == .refresh {
            refreshesOut[process.id, default: 1] -= 1
            refreshEnds[process.id] = now
        }
        signIns.arrived(outcome, request, exchange, form, at: process)
        guard case .answer(let answer) = outcome else {
            if exchange == .discovery { signIns.missed(process) }
            return
        }
        proofWatch.arrived(answer, request, at: process)
        if exchange == .discovery {
            if answer.status == 200, answer.body.first == UInt8(ascii: "{") {
                discovered[process.id] = now
            } else {
                signIns.missed(process)
            }
        }
        if answer.status == 404 { discovered[process.id] = nil }
        if exchange == .token, answer.status == 200, !process.isDead,
            let token = (try? JSONValue(parsing: answer.body))?["refresh_token"]?.string
        {
            issued[token] = process
        }
        if exchange == .api, answer.status == 401 { lastReasons[process.id] = now }
        if exchange == .refresh, answer.status == 200, let token = form["refresh_token"],
            let next = (try? JSONValue(parsing: answer.body))?["refresh_token"]?.string,
            next != token
        {
            spent[process.id, default: []].insert(token)
        }
        guard answer.status == 400,
            let error = (try? JSONValue(parsing: answer.body))?["error"]?.string
        else { return }
        if error == "use_dpop_nonce", let handle = form["code"] ?? form["refresh_token"] {
            challenged.insert(handle)
        }
        if exchange == .refresh, error == "invalid_grant", let token = form["refresh_token"] {
            refused.insert(token)
        }
    }

    // MARK: - The disk

    func sessionChanged(
        from before: SessionRecord?, to after: SessionRecord?, by process: AppProcess
    ) {
        lastWriter = process
        guard let after else {
            let isSigningOut = signOuts[process.id, default: 0] > 0
            let isRefused = (before?.refreshToken?.expose()).map(refused.contains) ?? false
            let isSignedOut = (before?.grantId).map { signedOut[$0] != nil } ?? false
            if !isSigningOut, !isRefused, !isSignedOut, !world.device.hasLostKey {
                violate("a session is removed for no reason")
            }
            return
        }
        sessionWrites += 1
        durableTokens[after.accessToken.expose()] = after.grantId
        secrets.insert(after.accessToken.expose())
        if let token = after.refreshToken {
            secrets.insert(token.expose())
            issued[token.expose()] = nil
        }
        if endedGrants.contains(after.grantId) { violate("a session comes back after its end") }
        if before?.grantId != after.grantId { newSession(by: process) }
        guard let before else { return }
        if before.grantId == after.grantId, failedSessionWrites == 0 {
            if before.refreshToken != nil, after.refreshToken == nil {
                violate("a refresh loses the refresh token")
            }
            if before != after, world.device.records[RefreshJournal.recordName] == nil {
                violate("a journal ends before its refresh is stored")
            }
        }
        if before.grantId != after.grantId {
            endedGrants.insert(before.grantId)
        } else if world.rotates, let old = before.refreshToken, old != after.refreshToken {
            retired.insert(old.expose())
        }
    }

    /// R-000-36: none comes of a sign-in that failed or was cancelled.
    private func newSession(by process: AppProcess) {
        newSessions[process.id, default: 0] += 1
        if flows.filter({ $0.process === process }).allSatisfy({ $0.endedAt != nil }) {
            violate("a session is stored of a sign-in that is over")
        }
    }

    func noteFailedWrite(_ name: String) {
        if name == Device.sessionName { failedSessionWrites += 1 }
    }

    // MARK: - The app

    func beginCall(_ process: AppProcess) -> Int {
        nextCall += 1
        calls[nextCall] = Call(process: process, hadSession: world.device.session != nil)
        lastReasons[process.id] = world.timeline.milliseconds
        return nextCall
    }

    func endCall(_ call: Int, _ result: String) {
        let isPlain = [.call, .calls, .callsNearEnd, .callsAfterEnd].contains(action)
        if world.isCalm, isPlain, calls[call]?.hadSession == true, result != "200" {
            violate("a call of a good session fails", result)
        }
        calls[call] = nil
        results.append(result)
        log(result)
        world.trace("call ends: \(result)", nil)
    }

    /// Signs out and looks at what is left.
    func signOut(_ process: AppProcess) async {
        let grant = world.device.session?.grantId
        let failures = failedSessionWrites
        signOuts[process.id, default: 0] += 1
        await process.authn?.signOut()
        signOuts[process.id, default: 1] -= 1
        guard !process.isDead, let grant else { return }
        signedOut[grant] = (process.id, nextCall)
        guard failures == failedSessionWrites else { return }
        endedGrants.insert(grant)
        if world.device.session?.grantId == grant {
            violate("a session is still on disk after sign-out")
        }
    }

    func begin(_ flow: FlowRecord) { flows.append(flow) }

    func flow(_ flow: FlowRecord, is state: SignInState) {
        log("\(state)")
        world.trace("flow \(flow.id) \("\(state)".prefix { $0 != "(" })", nil)
        if let fault = flow.add(state, at: world.timeline.milliseconds) { violate(fault) }
        let process = flow.process
        switch state {
        case .signedIn:
            if sessionWrites <= flow.writesBefore {
                violate("signed in, and nothing is on disk")
            }
        case .failed(.expired) where !signIns.endsNow(process) && !process.wasSuspended:
            violate("a sign-in ends at another time than its session")
        case .failed, .cancelled:
            let isAlone = flows.allSatisfy { $0 === flow || $0.process !== process }
            if isAlone, newSessions[process.id, default: 0] > 0 {
                violate("a sign-in that left a session is not signed in")
            }
        case .postingResultFailed(.rateLimited, let wait), .postingResultFailed(.server, let wait):
            if !process.isHampered, !signIns.wasToldToWait(wait, process) {
                violate("a wait is not told")
            }
        default: break
        }
    }
}
