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
    private unowned let world: World
    private(set) var violations: [Violation] = []
    private(set) var flows: [FlowRecord] = []
    private(set) var results: [String] = []

    // What was presented.
    private var proofs: Set<String> = []
    private var assertions: Set<String> = []
    private var codes: Set<String> = []
    /// Challenge and nonce of each start.
    private var flowSecrets: Set<[String]> = []
    /// Codes and refresh tokens that were sent back for a nonce alone: one more time is due.
    private var challenged: Set<String> = []
    /// Refresh tokens whose successor is on disk.
    private var retired: Set<String> = []
    /// Refresh requests without an answer, by process.
    private var refreshesOut: [Int: Int] = [:]

    /// When each process may ask the broker again, milliseconds since 1970.
    private var waitsUntil: [Int: Int64] = [:]

    // What the app asked for.
    private var calls: [Int: Call] = [:]
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
    private var failedSessionWrites = 0

    private var lines: [String] = []
    private var secrets: Set<String> = []

    /// A call of the app that may refresh, and whether it has.
    private struct Call {
        let process: AppProcess
        var hasRefreshed = false
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
        }
        if let assertion = form["client_assertion"] {
            secrets.insert(assertion)
            if !assertions.insert(assertion).inserted {
                violate("an assertion is sent twice", exchange.rawValue)
            }
        }
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

    private func presented(_ token: String, by process: AppProcess) {
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
        // Each call of the app stands for one refresh at most: nothing is sent again by itself.
        let candidates = calls.filter { $0.value.process === process && !$0.value.hasRefreshed }
        guard let call = candidates.keys.min() else {
            return violate("a refresh token is sent again that nobody asked to send")
        }
        calls[call]?.hasRefreshed = true
    }

    /// A mint leaves the device, or its answer is there.
    func mint(_ answer: WireAnswer? = nil, by process: AppProcess) {
        let now = world.timeline.milliseconds
        guard let answer else {
            if now < waitsUntil[process.id, default: 0] { violate("the broker is asked too early") }
            return
        }
        guard answer.status == 429,
            let wait = answer.headers.first(where: { $0.name == "Retry-After" })
                .flatMap({ Int64($0.value) })
        else { return }
        waitsUntil[process.id] = now + wait * 1000
    }

    func arrived(
        _ outcome: WireOutcome, _ exchange: Exchange, _ form: [String: String],
        at process: AppProcess
    ) {
        if exchange == .refresh { refreshesOut[process.id, default: 1] -= 1 }
        guard case .answer(let answer) = outcome, answer.status == 400,
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
        if let token = after.refreshToken { secrets.insert(token.expose()) }
        if endedGrants.contains(after.grantId) { violate("a session comes back after its end") }
        guard let before else { return }
        if before.grantId != after.grantId {
            endedGrants.insert(before.grantId)
        } else if world.rotates, let old = before.refreshToken, old != after.refreshToken {
            retired.insert(old.expose())
        }
    }

    func noteFailedWrite(_ name: String) {
        if name == Device.sessionName { failedSessionWrites += 1 }
    }

    // MARK: - The app

    func beginCall(_ process: AppProcess) -> Int {
        nextCall += 1
        calls[nextCall] = Call(process: process)
        return nextCall
    }

    func endCall(_ call: Int, _ result: String) {
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
        flow.states.append(state)
        switch state {
        case .signedIn:
            if sessionWrites <= flow.writesBefore {
                violate("signed in, and nothing is on disk")
            }
        case .awaitingFaceCapture(let wait) where wait.lastError == nil:
            flow.scans += 1
            if flow.scans > 1 { violate("a face is scanned again without need") }
        default: break
        }
    }

    // MARK: - When all is quiet

    func settle() {
        if world.timeline.hasStrays { violate("something ran outside the run") }
        for flow in flows where !flow.process.isDead && !flow.isOver {
            violate("a sign-in hangs", "\(flow.states.last.map { "\($0)" } ?? "before its start")")
        }
        for call in calls.values where !call.process.isDead {
            _ = call
            violate("a call hangs")
        }
        calls = [:]
        if let most = world.provider.liveGrants.max(), most > 1 {
            violate("a sign-in has two live grants")
        }
        let opened = flows.count { $0.states.contains(.downloadingFaceToken) }
        if flowSecrets.count < opened || Set(flowSecrets.joined()).count < 2 * flowSecrets.count {
            violate("two sign-ins share a challenge or a nonce")
        }
        let minted = world.broker.minted
        if Set(minted).count != minted.count { violate("a jti is minted twice") }
        if !world.broker.recorded.isSuperset(of: minted) {
            violate("an assertion left whose jti is not recorded")
        }
        lookForSecrets()
        if world.isCalm { settleCalm() }
    }

    /// What holds besides when nothing went wrong: nothing is left behind anywhere.
    private func settleCalm() {
        let live = world.provider.liveGrants.reduce(0, +)
        if live != (world.device.session == nil ? 0 : 1) {
            violate("a grant is alive that no device holds", "\(live) alive")
        }
        if world.device.records[RefreshJournal.recordName] != nil {
            violate("a journal is left behind")
        }
        let abandoned = flows.count { $0.states.last == .failed(reason: .expired) }
        if world.provider.openSessions > abandoned {
            violate("a session at the provider is left open")
        }
    }

    private func lookForSecrets() {
        for line in lines {
            for word in line.utf8.split(whereSeparator: { !Self.isTokenByte($0) })
            where word.count >= 16 && secrets.contains(String(Substring(word))) {
                violate("a secret is in a log", line)
            }
        }
        lines = []
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: true
        default: false
        }
    }
}

/// One sign-in as the app saw it.
///
/// Sendable: touched on the run's thread only.
final class FlowRecord: @unchecked Sendable {
    let id: Int
    let process: AppProcess
    let flow: SignInFlow
    /// Session records written before it began.
    let writesBefore: Int
    var states: [SignInState] = []
    var scans = 0
    var isOver = false

    init(id: Int, process: AppProcess, flow: SignInFlow, writesBefore: Int) {
        self.id = id
        self.process = process
        self.flow = flow
        self.writesBefore = writesBefore
    }
}
