import AssertionMint
import JOSE

/// A limit that holds until a moment instead of the declared one.
struct LimitOverride: Sendable {
    /// Whose limit.
    enum Subject: Hashable, Sendable {
        case install(DpopJkt, of: ClientId)
        /// Each install of the client that has no override of its own.
        case eachInstall(of: ClientId)
        case client(ClientId)
        case tenant(TenantId)

        var scope: LimitScope {
            switch self {
            case .install, .eachInstall: .install
            case .client: .client
            case .tenant: .tenant
            }
        }
    }

    /// What does not depend on any clock.
    struct Declared: Sendable, Equatable {
        /// Never used twice.
        let id: Int64
        let subject: Subject
        let limit: LimitSettings

        /// The limit as the store decides it. Its state is its own: it begins with a full bucket, whatever was spent under
        /// another policy, and the declared limit finds its own state again afterwards.
        var policy: RatePolicy {
            let name = subject.scope.rawValue
            return limit.policy(named: name, state: "\(name)@\(id)")
        }
    }

    let subject: Subject
    let policy: RatePolicy
    /// On this process's steady clock, reckoned from what the database said was left.
    let endsAt: MonotonicTime

    init(_ declared: Declared, endsAt: MonotonicTime) {
        subject = declared.subject
        policy = declared.policy
        self.endsAt = endsAt
    }
}

extension LimitOverride.Subject: CustomStringConvertible {
    var description: String {
        switch self {
        case .install(let jkt, let client): "install \(jkt) of \(client)"
        case .eachInstall(let client): "each install of \(client)"
        case .client(let client): "client \(client)"
        case .tenant(let tenant): "tenant \(tenant)"
        }
    }
}
