import Synchronization

/// One in-app sign-in. It starts by itself (R-000-01); observe it through `stateStream()`.
///
/// The rules are in `SignInMachine`; this object keeps the machine, performs its effects on the SDK's
/// executor and sends their answers back as events. A flow that nobody holds and that waits for its user
/// goes away, and its streams end.
public final class SignInFlow: Sendable {
    private let machine: Mutex<SignInMachine>
    private let calls: SignInCalls
    private let states: StateBroadcast<SignInState>
    private let captures: StateBroadcast<FaceCaptureUiState>
    private let expiry = Mutex<Task<Void, Never>?>(nil)

    init(core: AuthnCore, config: SignInConfig, provider: (any ClientAssertionProvider)?) {
        let isValid = config.isValid(insecureLoopback: core.environment.allowInsecureLoopback)
        let machine = SignInMachine(pki: config.pki, isValid: isValid)
        self.machine = Mutex(machine)
        calls = SignInCalls(core: core, config: config, provider: provider)
        states = StateBroadcast(SignInState(machine), isOver: machine.isOver)
        captures = StateBroadcast(FaceCaptureUiState(machine), isOver: machine.isOver)
        for effect in machine.firstEffects { perform(effect) }
    }

    deinit { expiry.withLock { $0?.cancel() } }

    /// The current state at once, then each later one in order; ends after a terminal state.
    public func stateStream() -> AsyncStream<SignInState> { states.stream() }

    /// What the capture surface talks to.
    public func faceCaptureDriver() -> any FaceCaptureDriver {
        SignInCaptureDriver(flow: self, states: captures)
    }

    /// Sends the proof again; only in `postingResultFailed`.
    public func retry() { handle(.retry) }

    /// Ends the flow and tells the provider as far as it can be reached.
    public func cancel() { handle(.cancel) }

    func handle(_ event: SignInEvent) {
        let (effects, isOver) = machine.withLock { machine in
            let effects = machine.handle(event)
            // Published under the lock, so that readers see states in the order of the machine.
            states.publish(SignInState(machine), isOver: machine.isOver)
            captures.publish(FaceCaptureUiState(machine), isOver: machine.isOver)
            return (effects, machine.isOver)
        }
        for effect in effects { perform(effect) }
        if isOver { expiry.withLock { $0?.cancel() } }
    }

    private func perform(_ effect: SignInEffect) {
        if case .armExpiry(let ceremony) = effect {
            armExpiry(ceremony)
            return
        }
        Task(executorPreference: calls.core.executor) {
            if let event = await self.calls.perform(effect) { self.handle(event) }
        }
    }

    /// Does not keep the flow alive.
    private func armExpiry(_ ceremony: Ceremony) {
        let clock = calls.core.environment.clock
        let left = max(0, ceremony.expiresAt - clock.now())
        let timer = Task(executorPreference: calls.core.executor) { [weak self] in
            guard (try? await clock.sleep(milliseconds: left * 1000)) != nil else { return }
            self?.handle(.expired)
        }
        expiry.withLock { $0 = timer }
    }
}

/// The capture surface's view of one sign-in.
private struct SignInCaptureDriver: FaceCaptureDriver {
    let flow: SignInFlow
    let states: StateBroadcast<FaceCaptureUiState>

    func stateStream() -> AsyncStream<FaceCaptureUiState> { states.stream() }
    func submitFaceCapture(_ frame: FaceFrame) { flow.handle(.frame(frame)) }
    func retry() { flow.retry() }
    func cancel() { flow.cancel() }
}
