/// The statement for mints with shadows, a call of `broker.record_shadowed_batch`: what it has beyond `BatchStatement`.
enum ShadowStatement {
    static let name = "broker_record_shadowed_batch"

    static let sql = """
        SELECT verdicts, waits, wants, granted, aheads, shared_spent, shared_leased, shadow_waits, shadow_client_waits,
            shadow_tenant_waits, shadow_spent, shadow_leased FROM broker.record_shadowed_batch(
        \((1...36).map { "$\($0)" }.joined(separator: ", ")))
        """

    /// - Parameter now: Microseconds since 1970 UTC on the broker's clock.
    static func parameters(of batch: ShadowBatch, now: Int64) -> StatementParameters {
        var bound = BatchStatement.parameters(of: batch.mints, now: now)
        let order = batch.mints.order.records
        let installs = order.map { batch.mints.records[$0].shadows.install }
        let (quotas, places) = BatchStatement.shortQuotas(of: batch.quotas)
        bound.append(texts: installs.lazy.map { $0?.state ?? "" })
        bound.append(integers: installs.lazy.map { Int32(clamping: $0?.burst ?? 1) })
        bound.append(bigints: installs.lazy.map { $0?.stepMicroseconds ?? 1 })
        bound.append(integers: order.lazy.map { places[Int(batch.clientShadows[$0])] })
        bound.append(integers: order.lazy.map { places[Int(batch.tenantShadows[$0])] })
        bound.append(texts: quotas.lazy.map { $0.limit.scope.rawValue })
        bound.append(texts: quotas.lazy.map { $0.limit.subject })
        bound.append(texts: quotas.lazy.map { $0.limit.policy.state })
        bound.append(integers: quotas.lazy.map { Int32(clamping: $0.databaseBurst) })
        bound.append(bigints: quotas.lazy.map { $0.limit.policy.stepMicroseconds })
        bound.append(bigints: quotas.lazy.map { $0.held })
        bound.append(bigints: quotas.lazy.map { $0.wish })
        return bound
    }

    /// Reads what the row says about shadows; `nil` when it does not fit the batch.
    ///
    /// - Parameter recorded: for each record, in the batch's order, whether it was recorded.
    static func answer(
        _ result: borrowing QueryResult, to batch: ShadowBatch, recorded: [Bool]
    ) -> ShadowAnswer? {
        guard result.rowCount == 1, result.columnCount == 12,
            let row = Row(result, count: batch.mints.records.count),
            let leases = row.leases(of: batch, recorded: recorded)
        else { return nil }
        return ShadowAnswer(refusals: row.refusals(of: batch, recorded: recorded), leases: leases)
    }

    private struct Row {
        let installWaits: [Int64]
        let clientWaits: [Int64]
        let tenantWaits: [Int64]
        let spent: [Int64]
        let leased: [Int64]

        init?(_ result: borrowing QueryResult, count: Int) {
            var columns: [[Int64]] = []
            for column in 7..<12 {
                guard let values = result.array(Int64.self, row: 0, column: column) else {
                    return nil
                }
                columns.append(values.compactMap(\.self))
            }
            (installWaits, clientWaits, tenantWaits) = (columns[0], columns[1], columns[2])
            (spent, leased) = (columns[3], columns[4])
            guard columns[0..<3].allSatisfy({ $0.count == count && $0.allSatisfy { $0 >= 0 } }),
                spent.count == leased.count
            else { return nil }
        }

        func refusals(of batch: ShadowBatch, recorded: [Bool]) -> [[ShadowRefusal]] {
            var refusals = [[ShadowRefusal]](repeating: [], count: recorded.count)
            for (place, record) in batch.mints.order.records.enumerated() where recorded[record] {
                let shadows = batch.mints.records[record].shadows
                for (policy, wait) in [
                    (shadows.install, installWaits[place]), (shadows.client, clientWaits[place]),
                    (shadows.tenant, tenantWaits[place]),
                ] {
                    guard let policy, wait > 0 else { continue }
                    refusals[record].append(ShadowRefusal(policy: policy, waitMicroseconds: wait))
                }
            }
            return refusals
        }

        /// A shadow of which the lane held enough is paid from that.
        func leases(
            of batch: ShadowBatch, recorded: [Bool]
        ) -> [(spent: Int64, held: Int64, leased: Int64)]? {
            let (short, places) = BatchStatement.shortQuotas(of: batch.quotas)
            guard spent.count == short.count else { return nil }
            var counts = [Int64](repeating: 0, count: batch.quotas.count + 1)
            for (index, isRecorded) in recorded.enumerated() where isRecorded {
                counts[Int(batch.clientShadows[index])] += 1
                counts[Int(batch.tenantShadows[index])] += 1
            }
            return batch.quotas.enumerated().map { index, quota in
                let place = Int(places[index + 1]) - 1
                if place < 0 {
                    return (counts[index + 1], max(0, quota.held - counts[index + 1]), 0)
                }
                let held = max(0, quota.held - spent[place])
                return (spent[place], held + leased[place], leased[place])
            }
        }
    }
}
