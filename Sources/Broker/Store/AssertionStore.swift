/// Commits mints (every limit, the proof's jti and the assertion's jti) and uses of assertions, in one transaction a batch.
///
/// One store a lane; every call and every callback is on that lane's queue.
protocol AssertionStore: AnyObject, Sendable {
    /// Decides and commits one mint.
    ///
    /// - Parameters:
    ///   - whileCommitting: Runs at most once, after the batch with this record was handed to the
    ///     database and before its answer is read, so that the signature costs no waiting time. It
    ///     has always run when the verdict is `recorded`; when nothing was sent it never runs.
    ///   - then: Runs exactly once, in bounded time. Only `recorded` lets the assertion out.
    func record(
        _ record: MintRecord, whileCommitting: @escaping @Sendable () -> Void,
        then: @escaping @Sendable (MintVerdict) -> Void)

    /// Burns the identifier of one assertion.
    ///
    /// - Parameter then: Runs exactly once, in bounded time. Of all calls with one `hash`, on whatever lane or
    ///   replica, at most one ever gets `consumed`.
    func consume(_ record: ConsumeRecord, then: @escaping @Sendable (ConsumeVerdict) -> Void)
}

/// What one mint wants committed. One object, since it is handed on several times and has many parts.
final class MintRecord: Sendable {
    let clientId: String
    let tenantId: String
    /// The install's key thumbprint, 43 characters of base64url.
    let dpopJkt: String
    /// 24 characters of base64url, 128 random bits among them.
    let jti: String
    /// Seconds since 1970 UTC on the broker's clock.
    let issuedAt: Int64
    /// Seconds since 1970 UTC on the broker's clock.
    let expiresAt: Int64
    /// The DPoP proof the caller showed, if any: single use as well.
    let proof: ProofUse?
    let install: RatePolicy
    let client: RatePolicy?
    let tenant: RatePolicy?
    /// The declaration the caller was decided on.
    let revision: Int64
    /// Asked once all the others let it in; they refuse nothing.
    let shadows: ShadowLimits

    init(
        clientId: String, tenantId: String, dpopJkt: String, jti: String, issuedAt: Int64,
        expiresAt: Int64, proof: ProofUse?, install: RatePolicy, client: RatePolicy?,
        tenant: RatePolicy?, revision: Int64, shadows: ShadowLimits = .none
    ) {
        self.clientId = clientId
        self.tenantId = tenantId
        self.dpopJkt = dpopJkt
        self.jti = jti
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.proof = proof
        self.install = install
        self.client = client
        self.tenant = tenant
        self.revision = revision
        self.shadows = shadows
    }
}

/// The one use of a DPoP proof (RFC 9449 §11.1).
struct ProofUse: Sendable, Equatable {
    /// SHA-256 over the thumbprint, `htu` and `jti` of the proof: 32 bytes.
    let hash: [UInt8]
    /// The proof's `iat`, seconds since 1970 UTC.
    let issuedAt: Int64
}

/// What became of one mint.
enum MintVerdict: Sendable, Equatable {
    /// Committed: the assertion may leave. `remaining` permits of the install's limit are left, and it
    /// is full again after `resetAfterMicroseconds`. `shadows` would have refused it.
    case recorded(
        remaining: Int, resetAfterMicroseconds: Int64, shadows: [ShadowRefusal] = [])
    /// `policy` has no permit, nothing of any limit was spent. The wait is exact; rounding belongs to
    /// the response.
    case limited(policy: RatePolicy, retryAfterMicroseconds: Int64)
    /// The proof was used before. No limit was spent.
    case proofReplayed
    /// The declaration changed: reload the snapshot and decide again.
    case stale
    /// Nothing was committed, or nobody can know: issue nothing.
    case unavailable(StoreFault)
}

/// What one use of an assertion wants committed.
struct ConsumeRecord: Sendable {
    /// SHA-256 over client and `jti`: 32 bytes.
    let hash: [UInt8]
    /// Seconds since 1970 UTC on the broker's clock.
    let expiresAt: Int64
    /// The declaration the use was decided on.
    let revision: Int64

    /// Within the bounds the tables keep.
    var isWellFormed: Bool {
        hash.count == 32 && (0...RecordForm.latestSecond).contains(expiresAt)
    }
}

/// What became of one use.
enum ConsumeVerdict: Sendable, Equatable {
    /// Committed: this was the first use.
    case consumed
    /// The identifier was burnt before, perhaps by a call whose answer was lost.
    case alreadyUsed
    /// The declaration changed: reload the snapshot and decide again.
    case stale
    /// Nothing is known to be committed, or nobody can know: accept nothing.
    case unavailable(StoreFault)
}

/// Why the store could not commit. For the log; the caller reads one fixed sentence.
enum StoreFault: Sendable, Equatable {
    /// No connection to a database that takes writes, for as long as a record may wait.
    case notConnected
    /// More records wait than the queue may hold.
    case overloaded
    /// The record waited in the queue for as long as it may.
    case waitedTooLong
    /// The database did not answer the batch in time. It may still commit.
    case timedOut
    /// The connection went while the batch was with the database. It may have committed.
    case connectionLost
    /// The database refused the batch, with this SQLSTATE.
    case refused(sqlState: String)
    /// The clocks of broker and database differ by more than 30 s, or the record's times lie outside
    /// what the store can keep.
    case clockSkew
    /// 128 random bits came twice: the random generator is broken.
    case jtiTaken
    /// The record breaks a rule of `MintRecord`: a fault of the broker itself.
    case malformedRecord
    /// The database's answer was not of the agreed shape.
    case unexpectedAnswer
    /// The store is closing.
    case closed
}
