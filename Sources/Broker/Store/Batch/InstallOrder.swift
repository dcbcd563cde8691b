/// The records of a batch in the order in which every batch locks installs: by the octets of thumbprint, client and policy;
/// those of one install together, in order of arrival.
struct InstallOrder: Sendable {
    /// The record at each place.
    let records: [Int]
    /// At each place the record's rank among those of its install, from 1.
    let ranks: [Int32]
    /// At an install's first place how many records it has; 0 at the others.
    let wants: [Int32]

    init(_ batch: [MintRecord]) {
        let records = batch.indices.sorted { left, right in
            switch Self.compare(batch[left], batch[right]) {
            case 0: left < right
            case let order: order < 0
            }
        }
        var ranks = [Int32](repeating: 1, count: records.count)
        var wants = [Int32](repeating: 0, count: records.count)
        var first = 0
        for place in records.indices {
            if place > 0, Self.compare(batch[records[place - 1]], batch[records[place]]) == 0 {
                ranks[place] = ranks[place - 1] + 1
            } else {
                first = place
            }
            wants[first] += 1
        }
        self.records = records
        self.ranks = ranks
        self.wants = wants
    }

    /// The places in order of arrival, counted from 1 as Postgres does.
    var arrivals: [Int32] {
        var arrivals = [Int32](repeating: 0, count: records.count)
        for (place, record) in records.enumerated() { arrivals[record] = Int32(place + 1) }
        return arrivals
    }

    /// Below, at or above 0. All three are ASCII, for which Swift compares as the collation "C" does.
    private static func compare(_ left: MintRecord, _ right: MintRecord) -> Int {
        if left.dpopJkt != right.dpopJkt { return left.dpopJkt < right.dpopJkt ? -1 : 1 }
        if left.clientId != right.clientId { return left.clientId < right.clientId ? -1 : 1 }
        if left.install.state != right.install.state {
            return left.install.state < right.install.state ? -1 : 1
        }
        return 0
    }
}
