/// Who is told about a descriptor of its own that a lane watches beside the connections, such as a database's.
public protocol LaneWatcher: AnyObject {
    /// Called on the lane's queue as long as the descriptor stays ready.
    func ready(_ readiness: LaneReadiness)
}

/// What a watched descriptor is ready for; after an error or a hang-up for both, so that the next call meets it.
public struct LaneReadiness: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let reading = LaneReadiness(rawValue: 1)
    public static let writing = LaneReadiness(rawValue: 2)
}

/// One watch over a descriptor, as `Lane.watch` gives it.
public struct LaneWatch: Sendable {
    let key: UInt64
    let descriptor: Int32
}
