internal import Dispatch

/// Passes events on, each kind at most once in five seconds: what anybody can cause must not fill a log.
final class QuietObserver: Sendable {
    enum Kind { case connections, accept, address, proxy, certificate }

    private let observe: (@Sendable (ServerEvent) -> Void)?
    private let last = Locked<[Kind: DispatchTime]>([:])

    private static let quiet = 5.0

    init(_ observe: (@Sendable (ServerEvent) -> Void)?) {
        self.observe = observe
    }

    func report(_ event: ServerEvent, _ kind: Kind) {
        guard let observe else { return }
        let now = DispatchTime.now()
        let isDue = last.withLock { last in
            if let time = last[kind], now < time + Self.quiet { return false }
            last[kind] = now
            return true
        }
        if isDue { observe(event) }
    }
}
