/// A lane's connections and their deadlines, found by a key that is never used again once its connection has gone.
struct ConnectionTable {
    /// A place in the table and the generation of its tenant; travels through `epoll` as a number.
    struct Key: RawRepresentable, Equatable {
        let rawValue: UInt64

        init(rawValue: UInt64) { self.rawValue = rawValue }

        init(index: Int, generation: UInt32) {
            rawValue = UInt64(generation) << 32 | UInt64(UInt32(truncatingIfNeeded: index))
        }

        var index: Int { Int(UInt32(truncatingIfNeeded: rawValue)) }
        var generation: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }
    }

    private struct Place {
        var connection: Connection?
        var deadline = UInt64.max
        var generation: UInt32 = 0
    }

    private var places: [Place] = []
    private var free: [Int] = []

    subscript(key: Key) -> Connection? {
        guard places.indices.contains(key.index), places[key.index].generation == key.generation
        else { return nil }
        return places[key.index].connection
    }

    var connections: [Connection] { places.compactMap(\.connection) }

    mutating func insert(_ connection: Connection) -> Key {
        if let index = free.popLast() {
            places[index].connection = connection
            return Key(index: index, generation: places[index].generation)
        }
        places.append(Place(connection: connection))
        return Key(index: places.count - 1, generation: 0)
    }

    mutating func remove(_ key: Key) {
        guard self[key] != nil else { return }
        // The highest bit of a key is for others (WatchTable).
        places[key.index] = Place(generation: (key.generation &+ 1) & UInt32(Int32.max))
        free.append(key.index)
    }

    mutating func setDeadline(_ deadline: UInt64, for key: Key) {
        guard self[key] != nil else { return }
        places[key.index].deadline = deadline
    }

    func expired(at now: UInt64) -> [Connection] {
        var connections: [Connection] = []
        for place in places where place.deadline <= now {
            if let connection = place.connection { connections.append(connection) }
        }
        return connections
    }

    var earliestDeadline: UInt64 {
        var earliest = UInt64.max
        for place in places { earliest = min(earliest, place.deadline) }
        return earliest
    }
}
