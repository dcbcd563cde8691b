/// What other limits would have changed.
struct ReplayChanges: Sendable {
    /// One limit, by its name.
    struct Policy: Sendable, Equatable {
        /// Mints it refused then.
        var then = 0
        /// Mints it would have refused.
        var now = 0
        /// Mints that were let in and that it would have refused, and the first of them.
        var more = 0
        var firstMore: Int64?
        /// Mints it refused and that would have been let in, and the first of them.
        var fewer = 0
        var firstFewer: Int64?
    }

    /// One install whose mints would have ended otherwise.
    struct Install: Sendable, Equatable {
        var more = 0
        var fewer = 0
        /// The first difference, microseconds since 1970 UTC.
        let first: Int64
    }

    /// Installs that are tallied at one time; the less affected half is let go beyond that.
    static let mostInstalls = 65_536

    private(set) var mints = 0
    private(set) var first: Int64?
    private(set) var last: Int64?
    private(set) var policies: [LimitScope: Policy] = [:]
    private(set) var installs: [InstallKey: Install] = [:]
    /// Whether tallies were let go: those told are then lower bounds.
    private(set) var isPartial = false

    /// Enters one mint with what the other limits say to it.
    mutating func enter(_ mint: ReplaySource.Mint, _ decision: LimitModel<InstallKey>.Decision) {
        mints += 1
        first = first ?? mint.at
        last = mint.at
        if let scope = mint.refusedBy { policies[scope, default: Policy()].then += 1 }
        switch (mint.refusedBy, decision) {
        case (nil, .passed): break
        case (nil, .refused(let scope, _)):
            policies[scope, default: Policy()].enterMore(at: mint.at)
            tally(mint) { $0.more += 1 }
        case (let scope?, .passed):
            policies[scope, default: Policy()].enterFewer(at: mint.at)
            tally(mint) { $0.fewer += 1 }
        case (_?, .refused(let scope, _)):
            policies[scope, default: Policy()].now += 1
        }
    }

    private mutating func tally(_ mint: ReplaySource.Mint, _ count: (inout Install) -> Void) {
        count(&installs[mint.install, default: Install(first: mint.at)])
        guard installs.count > Self.mostInstalls else { return }
        isPartial = true
        let weights = installs.values.map(\.weight).sorted()
        let median = weights[weights.count / 2]
        // One that is above the middle is at least half of the way to being told; equal ones all go, so that it ends.
        installs = installs.filter { $0.value.weight > median }
    }
}

extension ReplayChanges.Policy {
    fileprivate mutating func enterMore(at moment: Int64) {
        now += 1
        more += 1
        firstMore = firstMore ?? moment
    }

    fileprivate mutating func enterFewer(at moment: Int64) {
        fewer += 1
        firstFewer = firstFewer ?? moment
    }
}

extension ReplayChanges.Install {
    /// How much is different for it.
    var weight: Int { more + fewer }
}
