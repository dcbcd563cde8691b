import AssertionMint
import JOSE

/// One limit as it stands: what holds, why, and how much of it is left.
struct StandingLimit: Sendable, Equatable {
    struct Standing: Sendable, Equatable {
        let remaining: Int64
        /// Until there is a permit; 0 when there is one.
        let retryAfterMicroseconds: Int64
        /// Until it is full.
        let resetAfterMicroseconds: Int64
    }

    let subject: LimitOverride.Subject
    /// Tried beside the limit in force: told in the log, never refusing.
    var isShadow = false
    let settings: LimitSettings
    let override: LimitRows.Override?
    /// `nil` for each install of a client: every one has its own.
    let standing: Standing?
}

/// The limits that were asked for, the widest first.
struct StandingLimits: Sendable {
    private(set) var limits: [StandingLimit] = []
    private let rows: LimitRows
    private let overrides: [LimitOverride.Subject: LimitRows.Override]

    /// Of one client (and one install of it), or of all.
    init(_ rows: LimitRows, client wanted: ClientId?, jkt: DpopJkt?) {
        self.rows = rows
        overrides = Dictionary(rows.overrides.map { ($0.declared.subject, $0) }) { first, _ in first
        }
        let clients = rows.clients.filter { wanted == nil || $0.id == wanted }.sorted {
            $0.id < $1.id
        }
        let tenants = wanted == nil ? Set(rows.tenants.keys) : Set(clients.map(\.tenant))
        for tenant in tenants.sorted() {
            add(.tenant(tenant), rows.tenants[tenant]?.limit)
            addShadow(.tenant(tenant), rows.tenants[tenant]?.shadow)
        }
        for client in clients {
            let limits = client.settings.limits
            add(.client(client.id), limits.client)
            addShadow(.client(client.id), limits.clientShadow)
            add(.eachInstall(of: client.id), limits.install)
            addShadow(.eachInstall(of: client.id), limits.installShadow)
            for install in installs(of: client.id, jkt) {
                add(install, limits.install)
                addShadow(install, limits.installShadow)
            }
        }
    }

    /// The install that was asked for, otherwise those with an override of their own.
    private func installs(of client: ClientId, _ jkt: DpopJkt?) -> [LimitOverride.Subject] {
        if let jkt { return [.install(jkt, of: client)] }
        return rows.overrides.map(\.declared.subject).filter {
            if case .install(_, client) = $0 { true } else { false }
        }
    }

    private mutating func add(_ subject: LimitOverride.Subject, _ declared: LimitSettings?) {
        var override = overrides[subject]
        if override == nil, case .install(_, let client) = subject {
            override = overrides[.eachInstall(of: client)]
        }
        guard let settings = override?.declared.limit ?? declared else { return }
        let policy =
            override?.declared.policy ?? settings.policy(named: subject.scope.rawValue)
        limits.append(
            StandingLimit(
                subject: subject, settings: settings, override: override,
                standing: standing(of: subject, policy)))
    }

    /// Overrides are of the limits in force: a shadow has none.
    private mutating func addShadow(_ subject: LimitOverride.Subject, _ declared: LimitSettings?) {
        guard let declared else { return }
        limits.append(
            StandingLimit(
                subject: subject, isShadow: true, settings: declared, override: nil,
                standing: standing(of: subject, declared.shadow(of: subject.scope))))
    }

    private func standing(
        of subject: LimitOverride.Subject, _ policy: RatePolicy
    ) -> StandingLimit.Standing? {
        let owner: [String]
        let limit: RateLimit
        switch subject {
        case .eachInstall: return nil
        case .install(let jkt, let client):
            owner = [jkt.rawValue, client.rawValue]
            limit = RateLimit(policy)
        case .client(let client):
            owner = ["client", client.rawValue]
            limit = RateLimit(databaseSideOf: policy)
        case .tenant(let tenant):
            owner = ["tenant", tenant.rawValue]
            limit = RateLimit(databaseSideOf: policy)
        }
        let state = rows.states[LimitRows.StateKey(owner: owner, state: policy.state)]
        let now = max(rows.now, state?.seenAt ?? 0)
        return StandingLimit.Standing(
            remaining: limit.permits(tat: state?.tat, now: now),
            retryAfterMicroseconds: limit.wait(tat: state?.tat, now: now),
            resetAfterMicroseconds: max(0, (state?.tat ?? 0) - now))
    }
}

extension StandingLimit {
    /// One line for people.
    var text: String {
        var text = "\(subject)\(isShadow ? ", shadow" : ""): \(settings)"
        if let standing {
            text += "; \(standing.remaining) left"
            if standing.remaining == 0 {
                text += ", next in \(Problem.wholeSeconds(standing.retryAfterMicroseconds)) s"
            }
            text +=
                standing.resetAfterMicroseconds == 0
                ? ", full" : ", full in \(Problem.wholeSeconds(standing.resetAfterMicroseconds)) s"
        }
        if let override {
            text +=
                "; override \(override.declared.id) by \(override.madeBy) until "
                + Timestamp.rfc3339(microseconds: override.endsAt)
            if !override.reason.isEmpty { text += ": \(override.reason)" }
        }
        return text
    }

    /// One object for scripts.
    func write(to json: inout JSONWriter) {
        json.object {
            $0.member("scope", subject.scope.rawValue)
            switch subject {
            case .tenant(let tenant): $0.member("tenant", tenant.rawValue)
            case .client(let client), .eachInstall(let client):
                $0.member("client_id", client.rawValue)
            case .install(let jkt, let client):
                $0.member("client_id", client.rawValue)
                $0.member("jkt", jkt.rawValue)
            }
            if isShadow { $0.member("shadow", true) }
            $0.member("burst", settings.burst)
            $0.member("rate", settings.rate)
            $0.member("per", settings.per)
            if let standing {
                $0.member("remaining", standing.remaining)
                $0.member("retry_after_us", standing.retryAfterMicroseconds)
                $0.member("reset_after_us", standing.resetAfterMicroseconds)
            }
            guard let override else { return }
            $0.name("override")
            $0.object {
                $0.member("id", override.declared.id)
                $0.member("until", Timestamp.rfc3339(microseconds: override.endsAt))
                $0.member("made_by", override.madeBy)
                $0.member("reason", override.reason)
            }
        }
    }
}

extension LimitSettings: CustomStringConvertible {
    var description: String { "\(burst) at once, \(rate) every \(per) s" }
}
