/// A batch of mints and the shadows that are asked about it.
struct ShadowBatch: Sendable {
    let mints: MintBatch
    /// Of the shared shadows.
    let quotas: [SharedQuota]
    /// For each record the place of its client's shadow in `quotas`, counted from 1; 0 for none.
    let clientShadows: [Int32]
    let tenantShadows: [Int32]

    /// - Parameter now: Microseconds on the clock of `leases`.
    init(_ mints: MintBatch, leases: inout LeaseBook, now: Int64) {
        self.mints = mints
        var demand = SharedDemand()
        clientShadows = mints.records.map { record in
            demand.enter(
                record.shadows.client.map {
                    SharedLimit(scope: .client, subject: record.clientId, policy: $0)
                })
        }
        tenantShadows = mints.records.map { record in
            demand.enter(
                record.shadows.tenant.map {
                    SharedLimit(scope: .tenant, subject: record.tenantId, policy: $0)
                })
        }
        quotas = demand.quotas(from: &leases, now: now)
    }
}

/// What the database decided about the shadows of a batch.
struct ShadowAnswer: Sendable {
    /// The shadows that would have refused, one list a record, in the batch's order.
    let refusals: [[ShadowRefusal]]
    /// One a shared shadow, in the order of `quotas`: permits spent, those held from now on, and those of them that are new.
    let leases: [(spent: Int64, held: Int64, leased: Int64)]
}
