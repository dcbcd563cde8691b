/// Who is told about a descriptor of its own that a lane watches beside the connections, such as a database's.
public protocol LaneWatcher: AnyObject {
    /// Called on the lane's queue as long as the descriptor stays ready.
    func ready(_ readiness: LaneReadiness)
}

/// What a watched descriptor is ready for; after an error or a hang-up for both, so that the next call meets it.
public struct LaneReadiness: OptionSet, Sendable {
    /// A bit for each of the members below.
    public let rawValue: Int

    /// Makes one of the bits of members.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Octets, or the end of them, can be read without waiting.
    public static let reading = LaneReadiness(rawValue: 1)
    /// Octets can be written without waiting.
    public static let writing = LaneReadiness(rawValue: 2)
}

/// One watch over a descriptor, as `Lane.watch` gives it.
public struct LaneWatch: Sendable {
    let key: UInt64
    let descriptor: Int32
}
