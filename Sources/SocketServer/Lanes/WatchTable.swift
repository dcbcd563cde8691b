/// A lane's watchers, found by a key that is never used again. They are not kept alive.
struct WatchTable {
    private struct Place {
        weak var watcher: (any LaneWatcher)?
    }

    /// Apart from every key of a `ConnectionTable`, whose generations leave the highest bit alone.
    private static let mark: UInt64 = 1 << 63
    private var places: [UInt64: Place] = [:]
    private var last = Self.mark

    static func holds(_ key: UInt64) -> Bool { key & mark != 0 }

    subscript(key: UInt64) -> (any LaneWatcher)? { places[key]?.watcher }

    mutating func insert(_ watcher: any LaneWatcher) -> UInt64 {
        last += 1
        places[last] = Place(watcher: watcher)
        return last
    }

    mutating func remove(_ key: UInt64) { places[key] = nil }
}
