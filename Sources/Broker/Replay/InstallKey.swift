import JOSE

/// An install of one client, in few octets: replays hold millions.
struct InstallKey: Hashable, Sendable {
    /// The client's place in the `ReplayPolicy`.
    let client: Int32
    private let first: UInt64
    private let second: UInt64
    private let third: UInt64
    private let fourth: UInt64

    init(client: Int32, jkt: DpopJkt) {
        // 32, since it is a thumbprint.
        let octets = Base64URL.decode(jkt.rawValue) ?? []
        func word(_ start: Int) -> UInt64 {
            octets.dropFirst(start).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }
        self.client = client
        (first, second, third, fourth) = (word(0), word(8), word(16), word(24))
    }

    /// The thumbprint, 43 characters of base64url.
    var jkt: String {
        var octets: [UInt8] = []
        for word in [first, second, third, fourth] {
            for shift in stride(from: 56, through: 0, by: -8) {
                octets.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
            }
        }
        return Base64URL.encode(octets)
    }
}
