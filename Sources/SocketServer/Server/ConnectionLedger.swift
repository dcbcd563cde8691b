/// Who has how many connections. Shared by the listener and the lanes.
final class ConnectionLedger: Sendable {
    enum Answer: Equatable {
        /// Let it in, to this lane.
        case lane(Int)
        case addressFull
    }

    private struct Counts {
        var total = 0
        var lanes: [Int]
        var networks: [RemoteAddress: Int] = [:]
        var next = 0
        /// Called once when the next connection ends.
        var onRelease: (@Sendable () -> Void)?
        var onEmpty: [@Sendable () -> Void] = []
    }

    private let counts: Locked<Counts>
    private let maximum: Int
    private let maximumPerNetwork: Int

    init(lanes: Int, maximum: Int, maximumPerNetwork: Int) {
        counts = Locked(Counts(lanes: Array(repeating: 0, count: lanes)))
        self.maximum = maximum
        self.maximumPerNetwork = maximumPerNetwork
    }

    var total: Int { counts.withLock(\.total) }
    var isFull: Bool { total >= maximum }

    /// Counts a new connection to the lane with the fewest, in turn among equals.
    /// - Parameter address: `nil` for a peer that is counted in the total only.
    func admit(_ address: RemoteAddress?) -> Answer {
        counts.withLock { counts in
            if let network = address?.network {
                guard counts.networks[network, default: 0] < maximumPerNetwork else {
                    return .addressFull
                }
                counts.networks[network, default: 0] += 1
            }
            counts.total += 1
            let turn = counts.next
            let number = counts.lanes.count
            let lane =
                (0..<number).map { (turn + $0) % number }
                .min { counts.lanes[$0] < counts.lanes[$1] } ?? 0
            counts.lanes[lane] += 1
            counts.next = (lane + 1) % number
            return .lane(lane)
        }
    }

    /// - Parameters:
    ///   - address: as it was given to `admit`.
    ///   - lane: the place of its lane among the server's lanes.
    func release(_ address: RemoteAddress?, lane: Int) {
        let callbacks: [@Sendable () -> Void] = counts.withLock { counts in
            counts.total -= 1
            counts.lanes[lane] -= 1
            if let network = address?.network {
                let left = counts.networks[network, default: 1] - 1
                counts.networks[network] = left > 0 ? left : nil
            }
            var callbacks: [@Sendable () -> Void] = []
            if let onRelease = counts.onRelease {
                callbacks.append(onRelease)
                counts.onRelease = nil
            }
            if counts.total == 0 {
                callbacks += counts.onEmpty
                counts.onEmpty = []
            }
            return callbacks
        }
        for callback in callbacks { callback() }
    }

    /// Calls once when the next connection ends.
    func whenReleased(_ callback: @escaping @Sendable () -> Void) {
        counts.withLock { $0.onRelease = callback }
    }

    /// Calls once when no connection is left, at once if none is.
    func whenEmpty(_ callback: @escaping @Sendable () -> Void) {
        let isEmpty = counts.withLock { counts in
            if counts.total > 0 { counts.onEmpty.append(callback) }
            return counts.total == 0
        }
        if isEmpty { callback() }
    }

    /// The lane with the most connections.
    var fullestLane: Int {
        counts.withLock { counts in
            counts.lanes.indices.max { counts.lanes[$0] < counts.lanes[$1] } ?? 0
        }
    }
}
