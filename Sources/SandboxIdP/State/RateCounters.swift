/// The limits an identity provider keeps (R-000-70 to R-000-73).
enum RateLimit: String, Sendable, Equatable {
    case startsPerEmail = "starts_per_email"
    case startsPerTenant = "starts_per_tenant"
    case requestsPerAddress = "requests_per_address"
}

/// How many in how many seconds.
struct RateQuota: Sendable, Equatable {
    let count: Int
    let seconds: Int64
}

/// Counts in windows that begin with the first call: after the last permitted one, all further ones are refused for
/// the rest of the window.
struct RateCounters: Sendable {
    private struct Window {
        var startedAt: Int64
        var count: Int
        let seconds: Int64
    }

    private var windows: [String: Window] = [:]
    private var sweepAt = 1024

    /// Counts one call under every key, or refuses it and counts it under none.
    ///
    /// - Throws: `OAuthFault.rateLimited` for the first limit that is spent.
    mutating func spend(
        _ calls: [(limit: RateLimit, key: String, quota: RateQuota)], now: Int64
    ) throws(OAuthFault) {
        for call in calls {
            guard let window = current(call.limit, call.key, now), window.count >= call.quota.count
            else { continue }
            throw .rateLimited(
                call.limit, retryAfter: max(1, window.startedAt + window.seconds - now))
        }
        for call in calls {
            var window =
                current(call.limit, call.key, now)
                ?? Window(startedAt: now, count: 0, seconds: call.quota.seconds)
            window.count += 1
            windows[Self.name(call.limit, call.key)] = window
        }
        if windows.count >= sweepAt {
            windows = windows.filter { $0.value.startedAt + $0.value.seconds > now }
            sweepAt = max(1024, windows.count * 2)
        }
    }

    private func current(_ limit: RateLimit, _ key: String, _ now: Int64) -> Window? {
        guard let window = windows[Self.name(limit, key)], window.startedAt + window.seconds > now
        else { return nil }
        return window
    }

    private static func name(_ limit: RateLimit, _ key: String) -> String {
        "\(limit.rawValue) \(key)"
    }
}
