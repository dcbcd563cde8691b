import AssertionMint
import JOSE

/// The overrides of all limits at one revision, found by whom they are for.
struct LimitOverrides: Sendable {
    private let overrides: [LimitOverride.Subject: LimitOverride]

    init(_ overrides: [LimitOverride]) {
        self.overrides = Dictionary(overrides.map { ($0.subject, $0) }) { first, _ in first }
    }

    /// The limits of one mint with the overrides that have not ended at `now`: that of the install itself before one of each
    /// install.
    func applied(
        to declared: MintLimits, of client: ClientId, tenant: TenantId, _ jkt: DpopJkt,
        now: MonotonicTime
    ) -> MintLimits {
        // Mostly there are none, and this is done for every mint.
        guard !overrides.isEmpty else { return declared }
        func policy(_ subject: LimitOverride.Subject) -> RatePolicy? {
            overrides[subject].flatMap { $0.endsAt > now ? $0.policy : nil }
        }
        return MintLimits(
            install: policy(.install(jkt, of: client)) ?? policy(.eachInstall(of: client))
                ?? declared.install,
            client: policy(.client(client)) ?? declared.client,
            tenant: policy(.tenant(tenant)) ?? declared.tenant, shadows: declared.shadows)
    }
}
