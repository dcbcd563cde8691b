/// Single flight as a value (R-000-52): the first caller starts a refresh, callers that come during it
/// wait for its result, and one that leaves changes nothing for the others.
struct RefreshMachine: Sendable, Equatable {
    enum State: Sendable, Equatable {
        case idle
        case running(waiting: [Int])
    }

    enum Event: Sendable, Equatable {
        case arrived(Int)
        case left(Int)
        case finished
    }

    enum Effect: Sendable, Equatable {
        case run
        /// These callers get the result.
        case deliver([Int])
        /// This caller gets nothing any more.
        case dismiss(Int)
    }

    private(set) var state = State.idle

    mutating func handle(_ event: Event) -> [Effect] {
        switch (state, event) {
        case (.idle, .arrived(let id)):
            state = .running(waiting: [id])
            return [.run]
        case (.running(let waiting), .arrived(let id)):
            state = .running(waiting: waiting + [id])
            return []
        case (.running(let waiting), .left(let id)):
            guard waiting.contains(id) else { return [] }
            state = .running(waiting: waiting.filter { $0 != id })
            return [.dismiss(id)]
        case (.running(let waiting), .finished):
            state = .idle
            return [.deliver(waiting)]
        case (.idle, .left), (.idle, .finished):
            return []
        }
    }
}
