/// Everything the provider remembers, in memory only. Changed by pure functions under one lock.
struct SandboxState: Sendable {
    /// The registered applications as they stand now, by their id: an administrator may change them at any time.
    var clients: [String: Client]
    /// Client assertions that were presented, by client and `jti`.
    var assertions = ReplayMemory()
    /// DPoP proofs that were accepted, by key, URI and `jti`.
    var proofs = ReplayMemory()
    /// Device requests that were accepted, by key and `jti`.
    var deviceRequests = ReplayMemory()
    /// Users and their enrolled device keys.
    var directory = Directory()
    /// Sign-ins under way, their codes, and what came of them.
    var authorizations = Authorizations()
    /// Limits of R-000-70 to R-000-73.
    var counters = RateCounters()
}
