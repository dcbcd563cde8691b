/// Whose requests a limit counts together. The raw value is the limit's name in answers and in the log.
enum LimitScope: String, Sendable, CaseIterable {
    /// One install of one client.
    case install
    /// All installs of one client.
    case client
    /// All clients of one tenant.
    case tenant
}
