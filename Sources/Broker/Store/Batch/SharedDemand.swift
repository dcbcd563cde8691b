/// The shared limits that the records of a batch stand under, each once, with how many do.
struct SharedDemand: Sendable {
    private var places: [SharedLimit: Int] = [:]
    private var demands: [(limit: SharedLimit, count: Int64)] = []

    /// Enters one record's limit and gives its place, counted from 1; 0 for none.
    mutating func enter(_ limit: SharedLimit?) -> Int32 {
        guard let limit else { return 0 }
        let place = places[limit] ?? demands.count
        if place == demands.count {
            places[limit] = place
            demands.append((limit, 0))
        }
        demands[place].count += 1
        return Int32(place + 1)
    }

    /// One quota a limit, by place.
    ///
    /// - Parameter now: Microseconds on the clock of `leases`.
    func quotas(from leases: inout LeaseBook, now: Int64) -> [SharedQuota] {
        var quotas: [SharedQuota] = []
        for (limit, count) in demands {
            quotas.append(leases.quote(limit, demand: count, now: now))
        }
        return quotas
    }
}
