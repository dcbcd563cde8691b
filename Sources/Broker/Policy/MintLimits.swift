/// The limits that one mint stands under, decided together.
struct MintLimits: Sendable, Hashable {
    var install: RatePolicy
    var client: RatePolicy
    /// `nil`: the tenant has none.
    var tenant: RatePolicy?
    /// Tried beside them.
    var shadows = ShadowLimits.none
}
