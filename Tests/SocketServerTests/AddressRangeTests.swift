import Testing

@testable import SocketServer

@Suite struct AddressRangeTests {
    @Test(arguments: [
        ("10.0.0.0/8", "10.0.0.0", true), ("10.0.0.0/8", "10.255.255.255", true),
        ("10.0.0.0/8", "11.0.0.0", false), ("10.0.0.0/8", "9.255.255.255", false),
        ("192.0.2.128/25", "192.0.2.127", false), ("192.0.2.128/25", "192.0.2.128", true),
        ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "192.0.2.6", false),
        ("192.0.2.6/31", "192.0.2.7", true), ("192.0.2.7/32", "192.0.2.6", false),
        ("128.0.0.0/1", "255.0.0.1", true), ("128.0.0.0/1", "127.0.0.1", false),
        ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::1", false),
        ("2001:db8::/33", "2001:db8:8000::", false), ("::1", "::1", true), ("::1", "::2", false),
        ("2001:db8::1/128", "2001:db8::1", true),
        // Peers in IPv6 clothes are compared as IPv4, and no range of one family holds the other.
        ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("::/1", "10.0.0.1", false),
        ("0.0.0.0/1", "::1", false),
    ])
    func `holds exactly the addresses with its prefix`(
        text: String, address: String, holds: Bool
    ) throws {
        let range = try #require(AddressRange(text))
        #expect(range.contains(try #require(RemoteAddress(address))) == holds)
        #expect(!range.contains(.unix))
    }

    @Test(arguments: [
        "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/08",
        "10.0.0.0/8/8", "10.0.0.0/ 8", " 10.0.0.0/8", "10.0.0/8", "10.0.0.0/255.0.0.0",
        "10.0.0.1/8", "192.0.2.1/31", "2001:db8::1/64", "2001:db8::/129", "2001:db8::/0064",
        "0.0.0.0/0", "::/0", "[::1]", "[::1]/128", "::ffff:10.0.0.0/104", "::ffff:10.0.0.1",
        "fe80::1%eth0", "unix", "localhost", "010.0.0.0/8", "10.0.0.0/\u{0668}",
    ])
    func `what is no range, or holds everybody, or is most likely a mistake, is refused`(
        _ text: String
    ) {
        #expect(AddressRange(text) == nil)
    }

    @Test(arguments: 0..<200)
    func `holds an address when, and only when, the first bits are the same`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let width = Bool.random(using: &random) ? 32 : 128
        let length = Int.random(in: 1...width, using: &random)
        var first = (0..<width).map { _ in Bool.random(using: &random) }
        for index in length..<width { first[index] = false }
        let range = try #require(
            AddressRange("\(RemoteAddress(octets: Self.octets(first)))/\(length)"))
        var other = first
        let flipped = Int.random(in: 0..<width, using: &random)
        other[flipped].toggle()
        #expect(range.contains(RemoteAddress(octets: Self.octets(first))))
        #expect(range.contains(RemoteAddress(octets: Self.octets(other))) == (flipped >= length))
    }

    private static func octets(_ bits: [Bool]) -> [UInt8] {
        stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<(start + 8)].reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
        }
    }
}
