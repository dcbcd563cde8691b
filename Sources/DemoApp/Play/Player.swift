import ClientShim

/// Carries out what the person asks for. What is refused says what to do first.
actor Player {
    private let ready: ReadyFile
    private let client: ReadyFile.Client
    private let board: Board
    private let directory: AppDirectory
    private let network = PhoneNetwork()
    private let ageing = PhoneStore.Ageing()
    /// Past the phone's network.
    private let outside: any HTTPTransport
    private var phone: Phone
    private var flow: SignInFlow?
    private var users: [String: Identity] = [:]
    private var user: String?

    static let waitLimitMilliseconds: Int64 = 90_000

    init(ready: ReadyFile, client: ReadyFile.Client, board: Board) throws {
        self.ready = ready
        self.client = client
        self.board = board
        directory = try AppDirectory()
        outside = try directory.environment(caFile: ready.caFile).transport
        phone = try Phone(
            ready: ready, directory: directory, network: network, ageing: ageing, board: board)
        board.post(.stage(.idle))
    }

    /// Ends the app and removes what it has on the disk.
    func close() {
        endLife()
        directory.remove()
    }

    /// - Returns: whether the demo goes on.
    func perform(_ command: PhoneCommand) async throws(CommandFault) -> Bool {
        switch command {
        case .signIn(let user): try await signIn(user)
        case .show(let picture): try show(picture)
        case .retry: try retry()
        case .cancel: try cancel()
        case .cut: change { $0.cut() }
        case .mend: change { $0.mend() }
        case .loseRequests(let count, let peer): change { $0.loseRequests(count, of: peer) }
        case .loseAnswers(let count, let peer): change { $0.loseAnswers(count, of: peer) }
        case .slow(let milliseconds): change { $0.slow(milliseconds: milliseconds) }
        case .call: call()
        case .expire: try expire()
        case .revoke: try await setKey(to: "revoked", "revoked: the next sign-in is refused")
        case .restore: try await setKey(to: "good", "good again")
        case .signOut: try signOut()
        case .restart: try restart()
        case .crash: try crash()
        case .status: status()
        case .wait(let target): try await wait(for: target)
        case .help: CommandList.help.forEach { board.post(.said($0)) }
        case .quit: return false
        }
        return true
    }

    // MARK: - Sign-in

    private func signIn(_ user: String) async throws(CommandFault) {
        guard !isBusy else {
            throw CommandFault("a sign-in is open: finish it, or cancel it first")
        }
        let identity = try await identity(of: user)
        self.user = user
        network.startOver()
        board.post(.asked)
        let flow = phone.authn.startSignInFlow(
            config: SignInConfig(
                issuer: ready.issuer, clientId: client.clientId,
                scopes: ["openid", "offline_access"], loginHint: identity.email),
            clientAssertionProvider: phone.provider)
        self.flow = flow
        watch(flow.stateStream())
    }

    private func watch(_ states: AsyncStream<SignInState>) {
        let (board, life, clock) = (board, phone.life, phone.environment.clock)
        Task {
            for await state in states {
                guard life.isAlive else { return }
                if case .signedIn(let session, _) = state {
                    board.post(.said("signed in, scope \(session.scope)"))
                }
                board.post(.stage(Stage(state, now: clock.now())))
            }
        }
    }

    /// The user's key on this phone, enrolled past the network when there is none.
    private func identity(of user: String) async throws(CommandFault) -> Identity {
        if let known = users[user] { return known }
        var environment = phone.environment
        environment.transport = outside
        let identity: Identity
        do {
            identity = try await Enrolment(environment: environment, issuer: ready.issuer).enrol(
                email: "\(user)@example.test", keyLabel: "device-\(user)")
            try await phone.authn.importIdentity(identity)
        } catch {
            throw CommandFault("\(user) could not be enrolled: \(error)")
        }
        users[user] = identity
        board.post(.said("\(identity.email) is enrolled on this phone"))
        return identity
    }

    private func show(_ picture: Picture) throws(CommandFault) {
        guard let flow, case .scan = board.view.stage, !board.view.isMoving else {
            throw CommandFault("the camera is off: sign-in turns it on (wait scan)")
        }
        board.post(.said("the camera sees \(picture.rawValue)"))
        board.post(.asked)
        flow.faceCaptureDriver().submitFaceCapture(PictureEngine.frame(picture))
    }

    private func retry() throws(CommandFault) {
        guard let flow, case .tryAgain = board.view.stage, !board.view.isMoving else {
            throw CommandFault("there is nothing to send again: retry is for a proof not delivered")
        }
        network.startOver()
        board.post(.asked)
        flow.retry()
    }

    private func cancel() throws(CommandFault) {
        guard let flow, isBusy else { throw CommandFault("no sign-in is open") }
        board.post(.asked)
        flow.cancel()
    }

    private var isBusy: Bool { board.view.isMoving || board.view.stage.isOpen }

    // MARK: - Session

    private func call() {
        network.startOver()
        board.post(.began("calling the API"))
        let (authn, life, board, url) = (phone.authn, phone.life, board, ready.api)
        let http = DPoPHTTP(authn)
        http.allowedOrigins = [ready.issuer]
        Task {
            let result: String
            do {
                let answer = try await http.data(for: HTTPRequest(method: "GET", url: url))
                result = "the API answered \(answer.status)"
            } catch {
                result = "the API call has no answer (\(error)); the session is kept"
            }
            guard life.isAlive else { return }
            if authn.currentSession() == nil, board.view.stage == .signedIn {
                board.post(.said("the session is over: sign-in again"))
                board.post(.stage(.idle))
            }
            board.post(.ended(result))
        }
    }

    private func signOut() throws(CommandFault) {
        guard !isBusy else { throw CommandFault("a sign-in is open: cancel it first") }
        _ = try session()
        network.startOver()
        board.post(.began("signing out"))
        let (authn, life, board) = (phone.authn, phone.life, board)
        Task {
            await authn.signOut()
            guard life.isAlive else { return }
            board.post(.stage(.idle))
            board.post(.ended("signed out"))
        }
    }

    private func expire() throws(CommandFault) {
        _ = try session()
        ageing.isExpired = true
        board.post(.said("the access token's time is up: the next call refreshes"))
    }

    private func session() throws(CommandFault) -> TokenSession {
        guard let session = phone.authn.currentSession() else {
            throw CommandFault("nobody is signed in: sign-in first")
        }
        return session
    }

    private func setKey(to status: String, _ text: String) async throws(CommandFault) {
        guard let user, let identity = users[user] else {
            throw CommandFault("no device key is enrolled yet: sign-in enrols one")
        }
        try await Console(issuer: ready.issuer, transport: outside)
            .setKey(identity.keyId, to: status)
        board.post(.said("the provider says that \(user)'s device key is \(text)"))
    }

    // MARK: - The app and its phone

    private func restart() throws(CommandFault) {
        guard !isBusy else {
            throw CommandFault("a sign-in is open: crash ends the app in its middle")
        }
        try startAgain("the app was ended and started again")
    }

    private func crash() throws(CommandFault) {
        guard isBusy else { throw CommandFault("no sign-in is open: restart ends the app") }
        try startAgain("the app was killed in the middle of its sign-in, and started again")
    }

    private func endLife() {
        phone.life.end()
        flow = nil
        board.post(.died)
    }

    private func startAgain(_ text: String) throws(CommandFault) {
        endLife()
        do {
            phone = try Phone(
                ready: ready, directory: directory, network: network, ageing: ageing,
                board: board)
        } catch {
            throw CommandFault("the app does not start: \(error)")
        }
        let isSignedIn = phone.authn.currentSession() != nil
        board.post(.said(text + (isSignedIn ? ": the session is there" : ": nobody is signed in")))
        board.post(.stage(isSignedIn ? .signedIn : .idle))
    }

    private func change(_ body: (inout NetworkConditions) -> Void) {
        network.change(body)
        board.post(.said("the network is \(network.text)"))
    }

    private func status() {
        var lines = ["network: \(network.text)"]
        if let session = phone.authn.currentSession() {
            lines.append("signed in: subject \(Redaction.name(session.subject ?? "unknown"))")
            lines.append("scope: \(session.scope)")
            let left = session.accessTokenExpiresAt.map { $0 - phone.environment.clock.now() }
            let isOld = ageing.isExpired || session.needsRefresh()
            lines.append(
                isOld
                    ? "access token: its time is up, the next call refreshes"
                    : "access token: good for \(left.map { "\($0) s" } ?? "an unknown time")")
        } else {
            lines.append("nobody is signed in")
        }
        let keys = (try? phone.environment.keyStore.list()) ?? []
        let records = (try? phone.environment.store.names(prefix: "")) ?? []
        lines.append("keys: " + Self.list(keys))
        lines.append("records: " + Self.list(records))
        for line in lines { board.post(.said(line)) }
    }

    private static func list(_ names: [String]) -> String {
        names.isEmpty ? "none" : names.map(Redaction.name).joined(separator: ", ")
    }

    private func wait(for target: WaitTarget) async throws(CommandFault) {
        let limit = Self.waitLimitMilliseconds
        switch await board.wait(for: target, atMostMilliseconds: limit) {
        case .reached: return
        case .never: throw CommandFault("\(target.rawValue) does not come: nothing moves any more")
        case .tooLong:
            throw CommandFault("\(target.rawValue) has not come within \(limit / 1000) s")
        case .interrupted: throw CommandFault("interrupted")
        }
    }
}
