/// The one statement that decides and commits a batch, a call of `broker.record_batch`: its parameters, its answer.
enum BatchStatement {
    static let name = "broker_record_batch"

    static let sql = """
        SELECT verdicts, waits, wants, granted, aheads, shared_spent, shared_leased FROM broker.record_batch(
        \((1...24).map { "$\($0)" }.joined(separator: ", ")))
        """

    /// - Parameter now: Microseconds since 1970 UTC on the broker's clock.
    static func parameters(of batch: MintBatch, now: Int64) -> StatementParameters {
        let records = batch.order.records.lazy.map { batch.records[$0] }
        let (quotas, places) = shortQuotas(of: batch.quotas)
        var bound = StatementParameters(reservingBytes: 768 + batch.records.count * 320)
        bound.append(bigint: now)
        bound.append(bigints: records.map { $0.revision })
        bound.append(texts: records.map { $0.clientId })
        bound.append(texts: records.map { $0.dpopJkt })
        bound.append(texts: records.map { $0.jti })
        bound.append(bigints: records.map { $0.expiresAt })
        if batch.records.contains(where: { $0.proof != nil }) {
            bound.append(byteas: records.map { $0.proof?.hash })
            bound.append(optionalBigints: records.map { $0.proof?.issuedAt })
        } else {
            bound.append(byteas: EmptyCollection<[UInt8]?>())
            bound.append(optionalBigints: EmptyCollection<Int64?>())
        }
        bound.append(texts: records.map { $0.install.state })
        bound.append(integers: records.map { Int32(clamping: $0.install.burst) })
        bound.append(bigints: records.map { $0.install.stepMicroseconds })
        bound.append(integers: batch.order.ranks)
        bound.append(integers: batch.order.wants)
        bound.append(
            integers: batch.order.records.lazy.map { places[Int(batch.clientLimits[$0])] })
        bound.append(
            integers: batch.order.records.lazy.map { places[Int(batch.tenantLimits[$0])] })
        bound.append(integers: batch.order.arrivals)
        bound.append(texts: quotas.lazy.map { $0.limit.scope.rawValue })
        bound.append(texts: quotas.lazy.map { $0.limit.subject })
        bound.append(texts: quotas.lazy.map { $0.limit.policy.state })
        bound.append(integers: quotas.lazy.map { Int32(clamping: $0.databaseBurst) })
        bound.append(bigints: quotas.lazy.map { $0.limit.policy.stepMicroseconds })
        bound.append(integers: quotas.lazy.map { Int32(clamping: $0.demand) })
        bound.append(bigints: quotas.lazy.map { $0.held })
        bound.append(bigints: quotas.lazy.map { $0.wish })
        return bound
    }

    /// The limits whose rows must be taken, in the order all batches take them; and for each place in the batch's
    /// `quotas`, both counted from 1, the place among those, 0 for one of which the lane holds enough.
    static func shortQuotas(of quotas: [SharedQuota]) -> ([SharedQuota], places: [Int32]) {
        var places = [Int32](repeating: 0, count: quotas.count + 1)
        let short = quotas.indices.filter { quotas[$0].isShort }
            .sorted { quotas[$0].limit.isLocked(before: quotas[$1].limit) }
        for (place, quota) in short.enumerated() { places[quota + 1] = Int32(place + 1) }
        return (short.map { quotas[$0] }, places)
    }

    /// Reads the one row; `nil` when it does not fit the batch.
    static func answer(_ result: borrowing QueryResult, to batch: MintBatch) -> BatchAnswer? {
        guard result.rowCount == 1, result.columnCount >= 7,
            let row = Row(result, count: batch.records.count),
            let decisions = row.decisions(of: batch)
        else { return nil }
        return row.leases(of: batch, decisions).map {
            BatchAnswer(decisions: decisions, leases: $0)
        }
    }

    /// What the function gives, by place.
    private struct Row {
        let verdicts: [Int32?]?
        let waits: [Int64?]?
        /// How many records of an install were decided, at its first place; `nil` when all were.
        let wants: [Int32]?
        let granted: [Int32]
        let aheads: [Int64]
        let spent: [Int64]
        let leased: [Int64]

        init?(_ result: borrowing QueryResult, count: Int) {
            verdicts = result.array(Int32.self, row: 0, column: 0)
            waits = result.array(Int64.self, row: 0, column: 1)
            wants = result.array(Int32.self, row: 0, column: 2)?.compactMap(\.self)
            granted = result.array(Int32.self, row: 0, column: 3)?.compactMap(\.self) ?? []
            aheads = result.array(Int64.self, row: 0, column: 4)?.compactMap(\.self) ?? []
            spent = result.array(Int64.self, row: 0, column: 5)?.compactMap(\.self) ?? []
            leased = result.array(Int64.self, row: 0, column: 6)?.compactMap(\.self) ?? []
            guard (verdicts?.count ?? count) == count, (waits?.count ?? count) == count,
                (wants?.count ?? count) == count, granted.count == aheads.count,
                spent.count == leased.count,
                granted.allSatisfy({ $0 >= 0 }),
                aheads.allSatisfy({ (0...1 << 60).contains($0) })
            else { return nil }
        }

        func decisions(of batch: MintBatch) -> [BatchAnswer.Decision]? {
            var decisions = [BatchAnswer.Decision](
                repeating: .init(code: .decideAgain, remaining: 0, microseconds: 0),
                count: batch.records.count)
            let wants = self.wants ?? batch.order.wants
            var decided = -1
            var left: Int64 = 0
            for (place, record) in batch.order.records.enumerated() {
                if batch.order.wants[place] > 0 { left = 0 }
                if wants[place] > 0 {
                    decided += 1
                    guard granted.indices.contains(decided) else { return nil }
                    left = Int64(granted[decided])
                }
                guard let code = BatchAnswer.Code(rawValue: verdicts?[place] ?? 0) else {
                    return nil
                }
                guard code == .recorded else {
                    decisions[record] = .init(
                        code: code, remaining: 0, microseconds: waits?[place] ?? 0)
                    continue
                }
                guard left > 0 else { return nil }
                left -= 1
                // As after this record, and not after those of its install behind it.
                let policy = batch.records[record].install
                let ahead = max(0, aheads[decided] - left * policy.stepMicroseconds)
                decisions[record] = .init(
                    code: .recorded, remaining: RateLimit(policy).permits(tat: ahead, now: 0),
                    microseconds: ahead)
            }
            return decided + 1 == granted.count ? decisions : nil
        }

        /// A limit of which the lane held enough is paid from that.
        func leases(of batch: MintBatch, _ decisions: [BatchAnswer.Decision]) -> [BatchAnswer
            .Lease?]?
        {
            let (short, places) = shortQuotas(of: batch.quotas)
            // A batch that did nothing has none.
            guard spent.count == short.count || spent.isEmpty else { return nil }
            var recorded = [Int64](repeating: 0, count: batch.quotas.count + 1)
            for (index, decision) in decisions.enumerated() where decision.code == .recorded {
                recorded[Int(batch.clientLimits[index])] += 1
                recorded[Int(batch.tenantLimits[index])] += 1
            }
            return batch.quotas.enumerated().map { index, quota in
                let place = Int(places[index + 1]) - 1
                if place < 0 { return .init(held: quota.held - recorded[index + 1], leased: 0) }
                guard spent.indices.contains(place) else { return nil }
                let held = max(0, quota.held - spent[place])
                return .init(held: held + leased[place], leased: leased[place])
            }
        }
    }
}

extension SharedLimit {
    /// The lock order of all batches: by octets, as the collation "C" has it.
    fileprivate func isLocked(before other: SharedLimit) -> Bool {
        (scope.rawValue, subject, policy.state) < (
            other.scope.rawValue, other.subject, other.policy.state
        )
    }
}
