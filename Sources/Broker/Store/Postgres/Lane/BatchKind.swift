/// One kind of work a lane hands to Postgres in batches: what its records become there, and what the answer says.
///
/// The pipeline around it is the same for every kind.
protocol BatchKind {
    associatedtype Record: Sendable
    associatedtype Verdict: Sendable
    associatedtype Batch

    /// Decides and commits one batch.
    static var statement: LaneStatement { get }

    /// Within the bounds the tables keep. One record that broke a CHECK would take its whole batch along.
    static func isWellFormed(_ record: Record) -> Bool

    /// The verdict on a record of which nothing is known to be committed.
    static func unavailable(_ fault: StoreFault) -> Verdict

    /// - Parameter now: microseconds on the steady clock.
    mutating func batch(of records: [Record], now: Int64) -> Batch

    /// - Parameter now: microseconds since 1970 UTC on the broker's clock.
    func parameters(of batch: Batch, now: Int64) -> StatementParameters

    /// Reads the answer to a batch: one verdict a record, in order; `nil` in it: decide that record again with the
    /// next batch.
    ///
    /// - Parameter sentAt: microseconds on the steady clock.
    /// - Returns: `nil` when the answer is not of the agreed shape.
    mutating func verdicts(
        _ result: borrowing QueryResult, on batch: Batch, sentAt: Int64
    ) -> [Verdict?]?

    /// The batch's outcome is unknown, or it never ran.
    mutating func giveUp(_ batch: Batch)
}

/// A statement that a connection of a lane prepares before its first use.
struct LaneStatement: Sendable {
    let name: String
    let sql: String
}
