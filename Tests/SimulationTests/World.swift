import JOSE
import TestKit

@testable import ClientShim

/// One run: a phone, a provider, a broker, the network between them, and everything that goes wrong, all from one seed.
///
/// Sendable: touched on the run's thread only.
final class World: @unchecked Sendable {
    let timeline: Timeline
    let random: SharedRandom
    let device = Device()
    /// Whether each refresh brings a new refresh token.
    let rotates: Bool
    /// Whether nothing goes wrong.
    let isCalm: Bool
    /// Whether logs are searched for secrets.
    let readsLogs: Bool
    /// What each process's face engine says of the first frames; later ones match.
    let faces: [ScriptedFaceEngine.Verdict]
    /// Whether the user takes time, and taps twice.
    let isHuman: Bool
    let provider: SimulatedProvider
    let broker: SimulatedBroker
    var faults: FaultSource
    private(set) lazy var network = Network(world: self)
    private(set) lazy var ledger = Ledger(world: self)
    private(set) var traced: [String]?
    /// What the user does at the moment when a session reaches the disk.
    var whileStoring: (@Sendable () -> Void)?
    private(set) var processes: [AppProcess] = []
    private let begun: Int64
    private let providerLog: ProviderLog

    static let email = "user@example.test"

    /// Lines of the provider's log. Sendable: touched on the run's thread only.
    private final class ProviderLog: @unchecked Sendable {
        weak var world: World?
        func add(_ line: String) { world?.ledger.log(line) }
    }

    init(_ plan: RunPlan, traces: Bool = false) throws {
        let timeline = Timeline(seed: plan.seed)
        let random = SharedRandom(seed: plan.seed)
        let log = ProviderLog()
        let clientKey = try KeyPool.client.get()
        var published = clientKey.publicJWK
        published.kid = clientKey.publicJWK.thumbprint
        self.timeline = timeline
        self.random = random
        rotates = plan.rotates
        isCalm = plan.percent == 0 && plan.faults.isEmpty && plan.stubborn == nil
        readsLogs = plan.readsLogs
        faces = plan.faces
        isHuman = plan.isHuman
        provider = try SimulatedProvider(
            clientKey: published, rotates: plan.rotates, timeline: timeline, random: random,
            log: { log.add($0) })
        broker = try SimulatedBroker(key: clientKey, timeline: timeline)
        faults = FaultSource(
            seed: plan.seed, planned: plan.faults, percent: plan.percent,
            stubborn: plan.stubborn)
        begun = timeline.milliseconds
        providerLog = log
        traced = traces ? [] : nil
        log.world = self
        let deviceKey = try device.keys.generate(label: "device")
        try provider.enrol(
            deviceKey, email: Self.email,
            faceToken: try ScriptedFaceEngine.newToken(random: Chance(random: random)).expose())
        let identity = Identity(
            keyId: deviceKey.thumbprint, email: Self.email, keyLabel: "device",
            issuer: SimulatedProvider.issuer, deviceId: "device-1")
        device.records[Identities.prefix + identity.keyId] = identity.json.bytes
    }

    private struct Chance: RandomSource {
        let random: SharedRandom
        func bytes(_ count: Int) throws(RandomSourceError) -> [UInt8] { random.bytes(count) }
    }

    func trace(_ text: @autoclosure () -> String, _ fault: Fault?) {
        guard traced != nil else { return }
        let time = timeline.milliseconds - begun
        traced?.append("\(time) ms  \(text())" + (fault.map { "  ** \($0.rawValue)" } ?? ""))
    }

    // MARK: - Processes

    func isAlive(_ id: Int) -> Bool { processes.contains { $0.id == id && !$0.isDead } }

    /// The app, started again when it has ended.
    func app() throws -> AppProcess {
        if let last = processes.last, !last.isDead { return last }
        return try launch()
    }

    func launch() throws -> AppProcess {
        let process = AppProcess(id: processes.count + 1, world: self)
        processes.append(process)
        try process.launch()
        return process
    }

    // MARK: - The run

    /// Performs the plan's actions, each until all is quiet, then lets everything work again and sees whether it does.
    func run(_ actions: [Action]) throws -> [Violation] {
        defer { end() }
        for (index, action) in actions.enumerated() {
            faults.begin(action: index)
            trace("== \(action.rawValue)", nil)
            ledger.action = action
            try perform(action)
            settle()
            guard ledger.violations.isEmpty else { return ledger.violations }
        }
        faults.isOn = false
        trace("== recovery", nil)
        ledger.action = nil
        try recover()
        settle()
        return ledger.violations
    }

    /// Lets go of all that would keep the run in memory.
    private func end() {
        faults.isOn = false
        for process in processes { process.letGo() }
        _ = timeline.run()
        processes = []
        timeline.clear()
    }

    func settle() {
        if !timeline.run() { ledger.violate("the run never ends") }
        ledger.settle()
    }

    /// Nothing is stuck: within a few tries, minutes apart, the app reaches its API.
    private func recover() throws {
        for _ in 0..<4 {
            if try app().authn?.currentSession() == nil {
                signIn(try app(), .patient)
                _ = timeline.run()
            }
            call(try app())
            _ = timeline.run()
            if ledger.results.last == "200" { return }
            _ = timeline.run(until: timeline.milliseconds + 60_000)
        }
        ledger.violate("the app does not recover", ledger.results.last ?? "")
    }
}
