@testable import SocketServer

/// `Forwarded` and `X-Forwarded-For` of a trusted proxy. The input is the lines of the field; the first octet says which.
enum ForwardedTarget: FuzzTarget {
    private static let ranges = ["10.0.0.0/8", "2001:db8::/32"].compactMap { AddressRange($0) }
    private static let peer = RemoteAddress(octets: [10, 0, 0, 1])

    static func run(_ bytes: [UInt8]) {
        guard let choice = bytes.first else { return }
        let field: TrustedProxies.Field = choice & 1 == 0 ? .forwarded : .xForwardedFor
        let name = field == .forwarded ? "forwarded" : "x-forwarded-for"
        let lines = bytes.dropFirst().split(separator: UInt8(ascii: "\n")).map {
            (name, String(decoding: $0, as: UTF8.self))
        }
        let proxies = TrustedProxies(ranges: ranges, field: field)
        let client = try? proxies.client(of: peer, in: HTTPHeaders(lines))
        guard let client else { return }
        promise(
            RemoteAddress(client.address.description) == client.address,
            "\(client.address) is no address that can be written")
        // What the client itself wrote in front changes nothing once an untrusted address was found.
        guard !proxies.contains(client.address), let last = lines.first else { return }
        let forged = field == .forwarded ? "for=192.0.2.66;proto=https" : "192.0.2.66"
        let more = try? proxies.client(
            of: peer, in: HTTPHeaders([(last.0, forged)] + lines))
        promise(more == client, "a line in front changed \(client) to \(String(describing: more))")
    }
}
