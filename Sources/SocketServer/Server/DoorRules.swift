/// Which peers a server lets in, and which of them it counts.
struct DoorRules: Sendable {
    let proxies: TrustedProxies?
    /// For plain HTTP where other machines can reach it: only the hop from a trusted proxy may be without TLS.
    let admitsProxiesOnly: Bool

    func admits(_ address: RemoteAddress) -> Bool {
        !admitsProxiesOnly || trusted(address) != nil
    }

    /// The proxies if the peer is one of them.
    func trusted(_ address: RemoteAddress) -> TrustedProxies? {
        proxies?.contains(address) == true ? proxies : nil
    }

    /// By what the peer's connections are counted; `nil` for a trusted proxy, whose connections are those of many clients.
    func counted(_ address: RemoteAddress) -> RemoteAddress? {
        trusted(address) == nil ? address : nil
    }
}
