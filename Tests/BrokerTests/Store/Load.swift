import Synchronization

/// What was handed out while a test drives load.
final class Load: Sendable {
    private let ids = Mutex<[String]>([])
    private let ended = Atomic(false)

    var recorded: [String] { ids.withLock(\.self) }
    var isOver: Bool { ended.load(ordering: .relaxed) }

    func append(_ id: String) { ids.withLock { $0.append(id) } }
    func end() { ended.store(true, ordering: .relaxed) }

    /// Returns once this many more were handed out.
    func reaches(more count: Int) async {
        let goal = recorded.count + count
        while recorded.count < goal && !Task.isCancelled { await Task.yield() }
    }
}
