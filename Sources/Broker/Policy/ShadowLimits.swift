/// Limits that are tried beside those that hold: decided and told in the log, never refusing.
struct ShadowLimits: Sendable, Hashable {
    var install: RatePolicy?
    var client: RatePolicy?
    var tenant: RatePolicy?

    static let none = ShadowLimits()

    var isEmpty: Bool { install == nil && client == nil && tenant == nil }

    /// Within the bounds the tables keep.
    var isValid: Bool { [install, client, tenant].allSatisfy { $0?.isValid ?? true } }
}

/// A shadow limit that would have refused.
struct ShadowRefusal: Sendable, Hashable {
    let policy: RatePolicy
    /// Until it would have had a permit.
    let waitMicroseconds: Int64
}

extension LimitSettings {
    /// This limit as a shadow. The numbers are part of what its state is kept by: another candidate begins with a full bucket.
    func shadow(of scope: LimitScope) -> RatePolicy {
        policy(named: scope.rawValue, state: "\(scope.rawValue)~\(burst)/\(rate)/\(per)")
    }
}
