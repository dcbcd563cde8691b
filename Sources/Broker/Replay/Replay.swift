/// Runs the mints of past logs against other limits and keeps what would have been different.
///
/// What it holds does not grow with the logs: a window of each, the installs that are in debt (bounded, or it gives up),
/// and the tallies of the installs most affected.
struct Replay: Sendable {
    /// More than this many installs with less than a full bucket at one time are not replayed: 200 MB.
    static let mostInstalls = 2_000_000

    private(set) var lines = ReplayLines()
    private(set) var changes = ReplayChanges()
    /// Mints that came more than a window too late to be put in order.
    private(set) var late = 0

    /// - Parameters:
    ///   - paths: files, or `-` for standard input; each nearly in order of its own.
    ///   - window: how many mints of each are held to put them in order.
    init(
        _ paths: [String], policy: ReplayPolicy, window: Int = ReplaySource.usualWindow
    ) throws(CommandError) {
        var sources: [ReplaySource] = []
        for path in paths {
            sources.append(ReplaySource(try LogReader(path), policy: policy, window: window))
        }
        var model = LimitModel<InstallKey>()
        var now = Int64.min
        while let source = try Self.earliest(sources, &lines) {
            let mint = source.take()
            guard mint.at >= now else {
                late += 1
                continue
            }
            now = mint.at
            let decision = model.decide(policy.request(mint.install), now: now)
            guard model.installCount <= Self.mostInstalls else {
                throw .refused(
                    "more than \(Self.mostInstalls) installs have less than a full bucket at one time: "
                        + "replay a shorter log, or limits with a smaller burst")
            }
            changes.enter(mint, decision)
        }
    }

    /// The source with the earliest mint; `nil` when all have ended.
    private static func earliest(
        _ sources: [ReplaySource], _ lines: inout ReplayLines
    ) throws(CommandError) -> ReplaySource? {
        var earliest: (source: ReplaySource, at: Int64)?
        for source in sources {
            guard let at = try source.nextTime(&lines) else { continue }
            if earliest.map({ at < $0.at }) ?? true { earliest = (source, at) }
        }
        return earliest?.source
    }
}

extension ReplayPolicy {
    /// What a mint of this install asks of the limits.
    fileprivate func request(_ install: InstallKey) -> LimitModel<InstallKey>.Request {
        let place = Int(install.client)
        let client = clients[place]
        return LimitModel.Request(
            install: install, installPolicy: client.install, client: place,
            clientPolicy: client.client, tenant: client.tenant,
            tenantPolicy: tenants[client.tenant])
    }
}
