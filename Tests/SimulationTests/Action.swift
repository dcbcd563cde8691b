@testable import ClientShim

/// What the user and the app do.
enum Action: String, Sendable, CaseIterable {
    case signIn, signInTwice, cancelSignIn, abandonSignIn
    /// One call of the API, or three at once.
    case call, calls
    /// Shortly before the access token ends, and after.
    case callsNearEnd, callsAfterEnd
    case refresh
    case signOut, signOutDuringCalls, signInDuringCalls
    /// The app is ended and started again.
    case restart
    /// The key store is cleared, as when a backup is restored on another phone; then the app calls its API.
    case loseKeys
    /// Two processes of the app share the disk.
    case twoProcesses
}

/// How a user goes about a sign-in.
enum Manners: Sendable, Equatable {
    /// Shows the face, tries again three times.
    case patient
    /// Cancels at the n-th state.
    case cancels(at: Int)
    /// Cancels when the session is being written.
    case cancelsAtWrite
    /// Never shows the face.
    case walksAway
}

extension World {
    func perform(_ action: Action) throws {
        let app = try app()
        switch action {
        case .signIn: signIn(app, .patient)
        case .signInTwice:
            signIn(app, .patient)
            signIn(app, .patient)
        case .cancelSignIn:
            let place = timeline.draw(1...8)
            signIn(app, place == 8 ? .cancelsAtWrite : .cancels(at: place))
        case .abandonSignIn: signIn(app, .walksAway)
        case .call: call(app)
        case .calls: (0..<3).forEach { _ in call(app) }
        case .callsNearEnd:
            _ = timeline.run(until: timeline.milliseconds + 285_000)
            (0..<3).forEach { _ in call(app) }
        case .callsAfterEnd:
            _ = timeline.run(until: timeline.milliseconds + 320_000)
            (0..<3).forEach { _ in call(app) }
        case .refresh: refresh(app)
        case .signOut: signOut(app)
        case .signOutDuringCalls:
            _ = timeline.run(until: timeline.milliseconds + 285_000)
            (0..<2).forEach { _ in call(app) }
            timeline.after(Int64(timeline.draw(0...500))) { self.signOut(app) }
        case .signInDuringCalls:
            _ = timeline.run(until: timeline.milliseconds + 285_000)
            signIn(app, .patient)
            timeline.after(Int64(timeline.draw(0...1500))) {
                (0..<2).forEach { _ in self.call(app) }
            }
        case .restart: app.die()
        case .loseKeys:
            app.die()
            device.loseInstallKey()
            call(try self.app())
        case .twoProcesses:
            let other = try launch()
            _ = timeline.run(until: timeline.milliseconds + 285_000)
            (0..<2).forEach { _ in call(app) }
            (0..<2).forEach { _ in call(other) }
            _ = timeline.run()
            other.die()
        }
    }

    func signIn(_ process: AppProcess, _ manners: Manners) {
        guard !process.isDead, let authn = process.authn, let provider = process.provider else {
            return
        }
        let flow = authn.startSignInFlow(
            config: SignInConfig(
                issuer: SimulatedProvider.issuer, clientId: SimulatedProvider.clientId,
                scopes: ["openid", "offline_access"]), clientAssertionProvider: provider)
        let record = FlowRecord(
            id: ledger.flows.count + 1, process: process, flow: flow,
            writesBefore: ledger.sessionWrites, at: timeline.milliseconds)
        ledger.begin(record)
        whileStoring = nil
        if manners == .cancelsAtWrite { whileStoring = { record.flow.cancel() } }
        Task(executorPreference: timeline) { await self.drive(record, manners) }
    }

    private func drive(_ record: FlowRecord, _ manners: Manners) async {
        let driver = record.flow.faceCaptureDriver()
        var retries = 0
        Task(executorPreference: timeline) {
            for await shown in driver.stateStream() { record.lastCapture = shown }
        }
        for await state in record.flow.stateStream() {
            if record.process.isDead { break }
            ledger.flow(record, is: state)
            if manners == .cancels(at: record.states.count) { record.flow.cancel() }
            switch state {
            case .awaitingFaceCapture where manners != .walksAway: show(record, driver)
            case .postingResultFailed:
                retries += 1
                if retries <= 3 { retry(record, driver) }
            default: break
            }
        }
        record.isOver = record.states.last?.isTerminal ?? false
    }

    /// Shows the face, now or after a thought.
    private func show(_ record: FlowRecord, _ driver: any FaceCaptureDriver) {
        let isThoughtful = isHuman && timeline.draw(0...5) == 0
        let pause = isThoughtful ? timeline.draw(60...200) : isHuman ? timeline.draw(0...8) : 0
        let taps = isHuman && timeline.draw(0...3) == 0 ? 2 : 1
        after(seconds: pause, record) {
            for _ in 0..<taps {
                let frame = FaceFrame([1, 2, 3])
                record.frames.append(frame)
                driver.submitFaceCapture(frame)
            }
        }
    }

    private func retry(_ record: FlowRecord, _ driver: any FaceCaptureDriver) {
        after(seconds: isHuman ? timeline.draw(1...60) : 2, record) {
            self.ledger.signIns.retried(record.process)
            driver.retry()
        }
    }

    private func after(
        seconds: Int, _ record: FlowRecord, _ action: @escaping @Sendable () -> Void
    ) {
        if seconds == 0 { return action() }
        timeline.after(Int64(seconds) * 1000) {
            record.process.whenAwake { if !record.process.isDead { action() } }
        }
    }

    func call(_ process: AppProcess) {
        guard !process.isDead, let http = process.http else { return }
        let call = ledger.beginCall(process)
        Task(executorPreference: timeline) {
            let request = HTTPRequest(
                method: "GET", url: SimulatedProvider.issuer + "/api/accounts")
            let result: String
            do { result = "\(try await http.data(for: request).status)" } catch {
                result = "\(error)"
            }
            self.ledger.endCall(call, result)
        }
    }

    func refresh(_ process: AppProcess) {
        guard !process.isDead, let session = process.authn?.currentSession() else { return }
        let call = ledger.beginCall(process)
        Task(executorPreference: timeline) {
            let result: String
            do {
                try await session.refresh()
                result = "refreshed"
            } catch {
                result = "\(error)"
            }
            self.ledger.endCall(call, result)
        }
    }

    func signOut(_ process: AppProcess) {
        guard !process.isDead else { return }
        Task(executorPreference: timeline) { await self.ledger.signOut(process) }
    }
}
