internal import Dispatch

/// The keys of one context's session tickets. Each seals for an hour and opens for another, as long as its youngest
/// ticket lives; then it is gone, and with it what it protected (RFC 9325 §3.4).
///
/// Sendable: the keys lie behind a lock, and the timer is set up once.
final class TicketKeys: @unchecked Sendable {
    /// How long a key seals, and how long a ticket lives, in seconds.
    static let lifetime: Int64 = 3600

    /// The newest first.
    private let keys = Locked<[TicketKey]>([])
    private let timer: any DispatchSourceTimer

    /// - Parameter now: seconds since 1970 UTC.
    init(now: @escaping @Sendable () -> Int64) {
        timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
        // A key must also go while nobody shakes hands.
        let interval = DispatchTimeInterval.seconds(Int(Self.lifetime / 4))
        timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .seconds(60))
        timer.setEventHandler { [weak self] in self?.dropOld(now: now()) }
        timer.activate()
    }

    deinit { timer.cancel() }

    /// The key that seals now, made anew when it is time; `nil` when the random generator fails.
    func sealing(now: Int64) -> TicketKey? {
        keys.withLock { keys in
            keys.removeAll { !Self.opens($0, now) }
            if let newest = keys.first, Self.seals(newest, now) { return newest }
            guard let key = TicketKey(createdAt: now) else { return nil }
            keys.insert(key, at: 0)
            return key
        }
    }

    /// The key with this name, and whether it still seals; `nil` when it is unknown or gone.
    func opening(name: UnsafePointer<UInt8>, now: Int64) -> (key: TicketKey, seals: Bool)? {
        keys.withLock { keys in
            keys.removeAll { !Self.opens($0, now) }
            return keys.first { $0.isNamed(name) }.map { ($0, Self.seals($0, now)) }
        }
    }

    func dropOld(now: Int64) {
        keys.withLock { $0.removeAll { !Self.opens($0, now) } }
    }

    /// How many are held.
    var count: Int { keys.withLock(\.count) }

    /// A key from the future is none: the clock was set back, and nobody knows how old it really is.
    private static func seals(_ key: TicketKey, _ now: Int64) -> Bool {
        (0..<lifetime).contains(now - key.createdAt)
    }

    private static func opens(_ key: TicketKey, _ now: Int64) -> Bool {
        (0..<2 * lifetime).contains(now - key.createdAt)
    }
}
