import TestKit

/// Where a fault can be: each message and each write of a run is a step.
enum StepKind: Sendable, Equatable {
    case exchange(Exchange)
    case write(String)
    /// A call of the provider of assertions, on its worker thread.
    case worker
}

/// What can go wrong with one step.
enum Fault: String, Sendable, CaseIterable {
    /// No byte left the device.
    case unsent
    /// It left and never arrived; the device gives up after its read timeout.
    case lostRequest
    /// It was served; the answer is lost.
    case lostAnswer
    /// The device has given up when it arrives, and it is served all the same.
    case late
    /// It arrives twice.
    case twice
    /// Twenty seconds each way.
    case slow
    /// 503 instead of being served.
    case busy
    /// Served, then 503 instead of the answer.
    case busyAfter
    /// The peer, or its database, is away for a minute: it answers 503.
    case outage
    /// 429 with `Retry-After`.
    case limited
    /// 429 that does not say how long.
    case limitedBare
    /// 200 with something else than JSON.
    case garbage
    /// Served, and garbage instead of the answer.
    case garbageAfter
    /// The device's clock jumps two hours ahead, or back.
    case clockAhead, clockBack
    /// The system suspends the app for longer than a sign-in lasts; what it waits for is lost meanwhile.
    case suspension
    /// The app ends before it sends.
    case crashBefore
    /// The app ends when it has sent.
    case crashAfter
    /// The app ends when the answer is there, before it reads it.
    case crashOnAnswer
    /// The app ends before the write, or right after it.
    case crashBeforeWrite, crashAfterWrite
    /// The disk does not take it.
    case failedWrite
    /// The provider of assertions takes 25 seconds.
    case slowProvider

    /// One message whose loss a sign-in must get over by itself.
    static let harmless: [Fault] = [.unsent, .lostRequest, .lostAnswer, .twice, .slow]

    static let ofExchanges: [Fault] = [
        .unsent, .lostRequest, .lostAnswer, .late, .twice, .slow, .busy, .busyAfter, .outage,
        .limited, .limitedBare,
        .garbage, .garbageAfter, .clockAhead, .clockBack, .suspension, .crashBefore, .crashAfter,
        .crashOnAnswer,
    ]

    static func possible(at kind: StepKind) -> [Fault] {
        switch kind {
        case .exchange: ofExchanges
        case .write: [.crashBeforeWrite, .crashAfterWrite, .failedWrite]
        case .worker: [.slowProvider]
        }
    }
}

/// A step by its place: the user's action, and its number within that.
struct Step: Hashable, Sendable, CustomStringConvertible {
    let action: Int
    let number: Int

    var description: String { "\(action).\(number)" }
}

/// Says what goes wrong where: as planned, or by chance.
struct FaultSource: Sendable {
    /// The faults to inject.
    var planned: [Step: Fault] = [:]
    /// Chances in a hundred that any other step goes wrong.
    var percent = 0
    /// What goes wrong with one kind of message most of the time.
    var stubborn: Stubborn?
    private var chance: SeededRandom
    private(set) var action = 0
    private var number = 0
    /// Every step so far and what it was.
    private(set) var steps: [(step: Step, kind: StepKind)] = []
    /// What was injected.
    private(set) var injected: [Step: Fault] = [:]
    /// Whether anything goes wrong at all.
    var isOn = true

    struct Stubborn: Sendable {
        let exchange: Exchange
        let fault: Fault
    }

    init(
        seed: UInt64, planned: [Step: Fault] = [:], percent: Int = 0, stubborn: Stubborn? = nil
    ) {
        self.stubborn = stubborn
        chance = SeededRandom(seed: seed ^ 0x6661_756c)
        self.planned = planned
        self.percent = percent
    }

    mutating func begin(action: Int) {
        self.action = action
        number = 0
    }

    mutating func next(_ kind: StepKind) -> Fault? {
        guard isOn else { return nil }
        let step = Step(action: action, number: number)
        number += 1
        steps.append((step, kind))
        let possible = Fault.possible(at: kind)
        var fault = planned[step].flatMap { possible.contains($0) ? $0 : nil }
        if fault == nil, percent > 0, Int.random(in: 0..<100, using: &chance) < percent {
            fault = possible.randomElement(using: &chance)
        }
        if fault == nil, let stubborn, kind == .exchange(stubborn.exchange),
            Int.random(in: 0..<10, using: &chance) < 8
        {
            fault = stubborn.fault
        }
        if let fault { injected[step] = fault }
        return fault
    }
}
