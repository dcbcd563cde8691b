import JOSE

@testable import ClientShim

/// One process of the app: what it asks of the system goes through here, and stops having any effect when it dies.
///
/// Sendable: touched on the run's thread only.
final class AppProcess: @unchecked Sendable {
    let id: Int
    unowned let world: World
    private(set) var isDead = false
    private(set) var authn: Authn?
    private(set) var http: DPoPHTTP?
    private(set) var provider: BrokerAssertionProvider?
    /// Until when the system has suspended it, milliseconds since 1970.
    private var sleepsUntil: Int64 = 0
    /// What waits for the system, to be let go at death.
    private var waiting: [Int: @Sendable () -> Void] = [:]
    private var nextWait = 0
    private(set) var face: ScriptedFaceEngine?

    // What the ledger wants to know of it.
    /// When each assertion was asked for, and the one that is asked for now; milliseconds since 1970.
    var asked: [String: Int64] = [:]
    private(set) var asking: Int64 = 0
    /// Whether it lacked an assertion or the metadata: then it counts a loss that the wire does not show.
    var isHampered = false
    private(set) var wasSuspended = false

    init(id: Int, world: World) {
        self.id = id
        self.world = world
    }

    /// Starts the app as its engineer would: environment, provider, session.
    func launch() throws {
        let face = ScriptedFaceEngine(
            verdicts: world.faces, random: ProcessRandom(process: self))
        self.face = face
        var environment = AuthnEnvironment(
            keyStore: ProcessKeys(process: self), store: ProcessStore(process: self),
            transport: ProcessTransport(process: self),
            faceEngine: face,
            clock: ProcessClock(process: self), random: ProcessRandom(process: self),
            onDiagnostic: { [unowned world] in world.ledger.log("\($0)") })
        let timeline = world.timeline
        environment.threads = SDKThreads(executor: timeline) { [weak self] call in
            guard let self, !self.isDead else { return }
            let fault = self.world.faults.next(.worker)
            self.world.trace("provider is asked", fault)
            let delay = fault == .slowProvider ? 25_000 : Int64(timeline.draw(1...40))
            if fault != nil { self.world.ledger.signIns.missed(self) }
            let askedAt = timeline.milliseconds
            timeline.after(delay) {
                self.whenAwake {
                    guard !self.isDead else { return }
                    self.asking = askedAt
                    let known = self.asked.count
                    call()
                    if self.asked.count == known { self.world.ledger.signIns.missed(self) }
                }
            }
        }
        let provider = BrokerAssertionProvider(
            brokerURL: SimulatedBroker.url, environment: environment)
        let authn = try Authn(environment: environment)
        authn.setClientAssertionProvider(provider)
        self.provider = provider
        self.authn = authn
        http = DPoPHTTP(authn)
    }

    /// Ends the process at once: nothing it does from here on reaches anything.
    func die() {
        guard !isDead else { return }
        isDead = true
        world.trace("process \(id) ends", nil)
        world.device.locks = world.device.locks.filter { $0.value != id }
        let waiting = waiting.values
        self.waiting = [:]
        for letGo in waiting { letGo() }
        // Nobody sees these any more; their tasks come to an end.
        for record in world.ledger.flows where record.process === self { record.flow.cancel() }
    }

    /// Breaks the ring of process, environment and `Authn`, when the run is over.
    func letGo() {
        die()
        authn = nil
        http = nil
        provider = nil
    }

    /// The app is in the background and gets no time, for longer than a session at the provider lasts.
    func suspend() {
        wasSuspended = true
        sleepsUntil = world.timeline.milliseconds + 400_000
    }

    var isSuspended: Bool { world.timeline.milliseconds < sleepsUntil }

    /// Now, or as soon as the app gets time again.
    func whenAwake(_ action: @escaping @Sendable () -> Void) {
        guard isSuspended else { return action() }
        world.timeline.after(sleepsUntil - world.timeline.milliseconds) { self.whenAwake(action) }
    }

    /// Remembers how to let somebody go who waits.
    func wait(_ letGo: @escaping @Sendable () -> Void) -> Int {
        nextWait += 1
        waiting[nextWait] = letGo
        return nextWait
    }

    /// - Returns: whether it still waited.
    func stopWaiting(_ id: Int) -> Bool { waiting.removeValue(forKey: id) != nil }
}

/// The device's disk as one process sees it.
struct ProcessStore: SecureStore {
    let process: AppProcess

    private static let ended = SecureStoreError.failed(details: "the process has ended")

    func read(_ name: String) throws(SecureStoreError) -> [UInt8]? {
        guard !process.isDead else { throw Self.ended }
        return process.world.device.records[name]
    }

    func replace(_ name: String, with bytes: [UInt8]) throws(SecureStoreError) {
        try change(name) { $0.records[name] = bytes }
    }

    func remove(_ name: String) throws(SecureStoreError) {
        guard !process.isDead else { throw Self.ended }
        guard process.world.device.records[name] != nil else { return }
        try change(name) { $0.records[name] = nil }
    }

    func names(prefix: String) throws(SecureStoreError) -> [String] {
        guard !process.isDead else { throw Self.ended }
        return process.world.device.records.keys.filter { $0.hasPrefix(prefix) }.sorted()
    }

    private func change(
        _ name: String, _ apply: (Device) -> Void
    ) throws(SecureStoreError) {
        guard !process.isDead else { throw Self.ended }
        let world = process.world
        let fault = world.faults.next(.write(name))
        world.trace("disk \(name.prefix { $0 != "/" })", fault)
        switch fault {
        case .crashBeforeWrite:
            process.die()
            throw Self.ended
        case .failedWrite:
            world.ledger.noteFailedWrite(name)
            throw .failed(details: "the disk took nothing")
        default: break
        }
        if name == Device.sessionName, let act = world.whileStoring {
            world.whileStoring = nil
            act()
        }
        let before = world.device.session
        apply(world.device)
        if name == Device.sessionName {
            world.ledger.sessionChanged(from: before, to: world.device.session, by: process)
        }
        if fault == .crashAfterWrite {
            process.die()
            throw Self.ended
        }
    }

    func tryLock(_ name: String) throws(SecureStoreError) -> (any StoreLock)? {
        guard !process.isDead else { throw Self.ended }
        guard process.world.device.locks[name] == nil else { return nil }
        process.world.device.locks[name] = process.id
        return Lock(process: process, name: name)
    }

    private struct Lock: StoreLock {
        let process: AppProcess
        let name: String

        func release() {
            guard !process.isDead, process.world.device.locks[name] == process.id else { return }
            process.world.device.locks[name] = nil
        }
    }
}

/// The device's keys as one process sees them.
struct ProcessKeys: KeyStore {
    let process: AppProcess

    private func living() throws(KeyStoreError) -> InMemoryKeyStore {
        guard !process.isDead else { throw .failed(details: "the process has ended") }
        return process.world.device.keys
    }

    var isHardwareBacked: Bool { false }
    func generate(label: String) throws(KeyStoreError) -> PublicJWK {
        try living().generate(label: label)
    }
    func publicJWK(label: String) throws(KeyStoreError) -> PublicJWK? {
        try living().publicJWK(label: label)
    }
    func sign(label: String, digest: [UInt8]) throws(KeyStoreError) -> [UInt8] {
        try living().sign(label: label, digest: digest)
    }
    func delete(label: String) throws(KeyStoreError) { try living().delete(label: label) }
    func list() throws(KeyStoreError) -> [String] { try living().list() }
}

/// The run's clock, as far off as the device's is.
struct ProcessClock: AuthnClock {
    let process: AppProcess

    func now() -> Int64 {
        (process.world.timeline.milliseconds + process.world.device.clockOffset) / 1000
    }

    func monotonicMilliseconds() -> Int64 { process.world.timeline.milliseconds }

    func sleep(milliseconds: Int64) async throws(CancellationError) {
        let sleeper = Sleeper(process)
        let slept = await withTaskCancellationHandler {
            await withUnsafeContinuation { sleeper.begin(milliseconds, $0) }
        } onCancel: {
            sleeper.end(false)
        }
        guard slept else { throw CancellationError() }
    }

    /// One sleep. Sendable: touched on the run's thread only.
    private final class Sleeper: @unchecked Sendable {
        private let process: AppProcess
        private var wake: UnsafeContinuation<Bool, Never>?
        private var timer: Int?
        private var wait: Int?
        private var isOver = false

        init(_ process: AppProcess) { self.process = process }

        func begin(_ milliseconds: Int64, _ wake: UnsafeContinuation<Bool, Never>) {
            guard !isOver, !process.isDead else { return wake.resume(returning: false) }
            self.wake = wake
            timer = process.world.timeline.after(milliseconds) { [process] in
                process.whenAwake { self.end(true) }
            }
            wait = process.wait { self.end(false) }
        }

        func end(_ slept: Bool) {
            guard !isOver else { return }
            isOver = true
            if let timer { process.world.timeline.cancel(timer) }
            if let wait { _ = process.stopWaiting(wait) }
            wake?.resume(returning: slept)
            wake = nil
        }
    }
}

/// The run's chance.
struct ProcessRandom: RandomSource {
    let process: AppProcess

    func bytes(_ count: Int) throws(RandomSourceError) -> [UInt8] {
        process.world.random.bytes(count)
    }
}

/// The network as one process sees it.
struct ProcessTransport: HTTPTransport {
    let process: AppProcess

    func send(_ request: HTTPRequest) async -> HTTPOutcome {
        guard !process.isDead else { return .unsent(.cancelled) }
        let outcome = await withUnsafeContinuation { continuation in
            process.world.network.send(WireRequest(request), from: process) {
                continuation.resume(returning: $0)
            }
        }
        return HTTPOutcome(outcome)
    }

    func sendAndWait(_ request: HTTPRequest) -> HTTPOutcome {
        guard !process.isDead else { return .unsent(.cancelled) }
        return HTTPOutcome(process.world.network.ask(WireRequest(request), from: process))
    }
}

extension WireRequest {
    init(_ request: HTTPRequest) {
        let body: [UInt8]
        if case .bytes(let bytes) = request.body { body = bytes } else { body = [] }
        self.init(
            method: request.method, url: request.url,
            headers: request.headers.map { ($0.name, $0.value) }, body: body)
    }
}

extension HTTPOutcome {
    init(_ outcome: WireOutcome) {
        self =
            switch outcome {
            case .lost: .lost(.broken)
            case .unsent: .unsent(.unreachable)
            case .answer(let answer):
                .answer(
                    HTTPAnswer(
                        status: answer.status,
                        headers: answer.headers.map { HTTPHeader($0.name, $0.value) },
                        body: answer.body))
            }
    }
}
