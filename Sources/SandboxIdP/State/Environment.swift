import JOSE

/// What the provider takes from the world outside, so that a test or a simulation can give another one.
struct Environment: Sendable {
    /// Seconds since 1970 UTC.
    var now: @Sendable () -> Int64
    /// So many unpredictable octets, or `nil` when there are none to be had.
    var random: @Sendable (Int) -> [UInt8]?
    /// Where the clients' keys come from.
    var clientKeys: any ClientKeySource
    /// Takes one event for each request.
    var log: @Sendable (RequestEvent) -> Void

    /// A secret of 256 random bits, 43 characters.
    func secret() throws(OAuthFault) -> String {
        try text(octets: 32)
    }

    /// An identifier of 128 random bits, 22 characters.
    func identifier() throws(OAuthFault) -> String {
        try text(octets: 16)
    }

    private func text(octets count: Int) throws(OAuthFault) -> String {
        guard let octets = random(count) else { throw .serverError }
        return Base64URL.encode(octets)
    }
}
