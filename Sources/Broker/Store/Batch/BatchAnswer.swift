/// What the database decided about one batch.
struct BatchAnswer: Sendable, Equatable {
    /// The numbers of `record_batch.sql`.
    enum Code: Int32, Sendable {
        case recorded = 0
        case installLimited, clientLimited, tenantLimited
        case proofReplayed
        case stale
        case clockSkew
        case jtiTaken
        /// A permit was freed in this batch, or a shared limit had no row yet.
        case decideAgain
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
    /// One a shared limit, in the batch's order; `nil` where the database did nothing.
    let leases: [Lease?]
}
