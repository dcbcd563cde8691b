/// What the database decided about one batch.
struct BatchAnswer: Sendable, Equatable {
    /// The numbers of `broker.record_batch`.
    enum Code: Int32, Sendable {
        case recorded = 0
        case installLimited, clientLimited, tenantLimited
        case proofReplayed
        case stale
        case clockSkew
        /// A permit was freed in this batch, or another record kept the batch from doing anything.
        case decideAgain = 8
    }

    struct Decision: Sendable, Equatable {
        let code: Code
        let remaining: Int64
        /// Until the limit is full (recorded), or until the next permit (limited).
        let microseconds: Int64
    }

    struct Lease: Sendable, Equatable {
        /// Permits the lane holds from now on.
        let held: Int64
        /// Those of them that are new.
        let leased: Int64
    }

    /// One a record, in the batch's order.
    let decisions: [Decision]
    /// One a shared limit, in the batch's order; `nil` where nothing was decided.
    let leases: [Lease?]
}
