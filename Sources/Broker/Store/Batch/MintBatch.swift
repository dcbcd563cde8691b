/// The records that go to the database together, and the shared limits they stand under.
struct MintBatch: Sendable {
    let records: [MintRecord]
    let order: InstallOrder
    let quotas: [SharedQuota]
    /// For each record the place of its client's limit in `quotas`, counted from 1; 0 for none.
    let clientLimits: [Int32]
    let tenantLimits: [Int32]

    /// - Parameter now: Microseconds on the clock of `leases`.
    init(_ records: [MintRecord], leases: inout LeaseBook, now: Int64) {
        var demand = SharedDemand()
        clientLimits = records.map { demand.enter($0.clientLimit) }
        tenantLimits = records.map { demand.enter($0.tenantLimit) }
        self.records = records
        order = InstallOrder(records)
        quotas = demand.quotas(from: &leases, now: now)
    }

    /// Enters what the answer says about leases.
    func settle(_ answer: BatchAnswer, leases: inout LeaseBook, sentAt: Int64) {
        var spent = [Int64](repeating: 0, count: quotas.count + 1)
        for (index, decision) in answer.decisions.enumerated() where decision.code == .recorded {
            spent[Int(clientLimits[index])] += 1
            spent[Int(tenantLimits[index])] += 1
        }
        for (index, quota) in quotas.enumerated() {
            guard let lease = answer.leases[index] else {
                leases.giveUp(quota)
                continue
            }
            leases.settle(
                quota, held: lease.held, leased: lease.leased, spent: spent[index + 1],
                sentAt: sentAt)
        }
    }

    /// The outcome is unknown.
    func giveUp(leases: inout LeaseBook) {
        for quota in quotas { leases.giveUp(quota) }
    }

    /// The verdict on the record at `index`; `nil`: decide it again with the next batch.
    func verdict(_ decision: BatchAnswer.Decision, at index: Int) -> MintVerdict? {
        let record = records[index]
        func limited(by policy: RatePolicy?) -> MintVerdict {
            guard let policy else { return .unavailable(.unexpectedAnswer) }
            return .limited(policy: policy, retryAfterMicroseconds: decision.microseconds)
        }
        switch decision.code {
        case .recorded:
            return .recorded(
                remaining: Int(clamping: decision.remaining),
                resetAfterMicroseconds: decision.microseconds)
        case .installLimited: return limited(by: record.install)
        case .clientLimited: return limited(by: record.client)
        case .tenantLimited: return limited(by: record.tenant)
        case .proofReplayed: return .proofReplayed
        case .stale: return .stale
        case .clockSkew: return .unavailable(.clockSkew)
        case .decideAgain: return nil
        }
    }
}

extension MintRecord {
    fileprivate var clientLimit: SharedLimit? {
        client.map { SharedLimit(scope: .client, subject: clientId, policy: $0) }
    }

    fileprivate var tenantLimit: SharedLimit? {
        tenant.map { SharedLimit(scope: .tenant, subject: tenantId, policy: $0) }
    }

    /// Within the bounds the tables keep.
    var isWellFormed: Bool {
        let seconds = 0...RecordForm.latestSecond
        return RecordForm.isName(clientId, upTo: 256) && RecordForm.isName(tenantId, upTo: 128)
            && RecordForm.isBase64URL(dpopJkt, count: 43) && RecordForm.isBase64URL(jti, count: 24)
            && seconds.contains(issuedAt) && seconds.contains(expiresAt) && expiresAt >= issuedAt
            && (proof.map { $0.hash.count == 32 && seconds.contains($0.issuedAt) } ?? true)
            && install.isValid && (client?.isValid ?? true) && (tenant?.isValid ?? true)
            && shadows.isValid
    }
}
