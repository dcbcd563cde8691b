import Synchronization

/// What happened, in order, as something to wait for.
public final class EventTrail<Event: Sendable>: Sendable {
    private struct State {
        var events: [Event] = []
        var waiting:
            [(isEnough: @Sendable ([Event]) -> Bool, CheckedContinuation<[Event], Never>)] = []
    }

    private let state = Mutex(State())

    /// Nothing has happened yet.
    public init() {}

    /// Everything so far.
    public var all: [Event] { state.withLock { $0.events } }

    /// Adds an event.
    public func append(_ event: Event) {
        let (events, ready) = state.withLock { state in
            state.events.append(event)
            let events = state.events
            let ready = state.waiting.filter { $0.isEnough(events) }
            state.waiting.removeAll { $0.isEnough(events) }
            return (events, ready)
        }
        for waiter in ready { waiter.1.resume(returning: events) }
    }

    /// Waits until there are so many for which `isWanted` holds, and gives those there are then.
    @discardableResult
    public func wait(
        for count: Int = 1, where isWanted: @escaping @Sendable (Event) -> Bool = { _ in true }
    ) async -> [Event] {
        let events = await withCheckedContinuation { continuation in
            let isEnough: @Sendable ([Event]) -> Bool = { $0.count(where: isWanted) >= count }
            let now: [Event]? = state.withLock { state in
                if isEnough(state.events) { return state.events }
                state.waiting.append((isEnough, continuation))
                return nil
            }
            if let now { continuation.resume(returning: now) }
        }
        return events.filter(isWanted)
    }
}
