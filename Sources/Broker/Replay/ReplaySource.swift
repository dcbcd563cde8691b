/// The mints of one log in the order of their times, read as they are wanted.
///
/// The lanes of a broker write nearly in order. So a window of mints is held and sorted, and the older half is handed
/// out: whatever stands within half a window of its place is put there. Memory depends on the window, not on the log.
final class ReplaySource {
    /// Mints of a window, about 64 octets each.
    static let usualWindow = 32_768

    /// What a replay decides.
    struct Mint: Sendable {
        let at: Int64
        let install: InstallKey
        let refusedBy: LimitScope?
    }

    private let reader: LogReader
    private let policy: ReplayPolicy
    private let window: Int
    /// Sorted from `start` on.
    private var mints: [Mint] = []
    private var start = 0
    private var hasEnded = false

    init(_ reader: LogReader, policy: ReplayPolicy, window: Int) {
        self.reader = reader
        self.policy = policy
        self.window = max(2, window)
    }

    /// When the next mint was; `nil` at the end of the log.
    ///
    /// - Parameter count: is told of each line that is read on the way.
    func nextTime(_ count: inout ReplayLines) throws(CommandError) -> Int64? {
        if !hasEnded, mints.count - start <= window / 2 { try fill(&count) }
        return start < mints.count ? mints[start].at : nil
    }

    /// Takes the mint that `nextTime` told of.
    func take() -> Mint {
        defer { start += 1 }
        return mints[start]
    }

    private func fill(_ count: inout ReplayLines) throws(CommandError) {
        mints.removeSubrange(..<start)
        start = 0
        while mints.count < window {
            guard let line = try reader.next() else {
                hasEnded = true
                break
            }
            if let mint = count.enter(line, of: reader, policy) { mints.append(mint) }
        }
        mints.sort { $0.at < $1.at }
    }
}
