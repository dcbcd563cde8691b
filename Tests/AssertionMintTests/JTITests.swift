import AssertionMint
import JOSE
import Testing

@Suite struct JTITests {
    /// Cases, mint "Single-use id on retry".
    @Test
    func `R-101-22 100,000 ids of one second are all different, and 128 bits of each are random`()
        throws
    {
        var seen: Set<String> = []
        var everyBit = [UInt8](repeating: 0, count: 16)
        for _ in 0..<100_000 {
            let id = try JTI.random(at: 1_796_000_000).rawValue
            seen.insert(id)
            let octets = try #require(Base64URL.decode(id))
            try #require(id.utf8.count == 24 && octets.count == 18)
            for (index, octet) in octets.dropFirst(2).enumerated() { everyBit[index] |= octet }
        }
        #expect(seen.count == 100_000)
        #expect(everyBit == [UInt8](repeating: 0xff, count: 16), "every bit is random")
    }

    @Test
    func `an id begins with its second, the last two octets of it, whatever the clock says`()
        throws
    {
        for second: Int64 in [0, 1, 65_535, 65_536, 1_796_000_000, -1, .min, .max] {
            let starts = try (0..<20).map { _ in
                try Base64URL.decode(JTI.random(at: second).rawValue)?.prefix(2)
            }
            let octets = withUnsafeBytes(of: UInt16(truncatingIfNeeded: second).bigEndian) {
                Array($0)
            }
            #expect(starts.allSatisfy { $0?.elementsEqual(octets) == true })
        }
    }

    @Test(arguments: [
        "", "AAECAwQFBgcICQoLDA0OD", "AAECAwQFBgcICQoLDA0ODx", "AAECAwQFBgcICQoLDA0ODwA",
        "AAECAwQFBgcICQoLDA0ODxARA", "AAECAwQFBgcICQoLDA0ODw==", "AAECAwQFBgcICQoLDA0ODxA+",
        "AAECAwQFBgcICQoLDA0ODé", "AAECAwQFBgcICQoLDA0OD ",
    ])
    func `what is not the one spelling of 16 or 18 octets is no id`(_ text: String) {
        #expect(JTI(text) == nil)
    }

    @Test func `an id of random octets alone is read too`() {
        #expect(JTI("AAECAwQFBgcICQoLDA0ODw")?.rawValue == "AAECAwQFBgcICQoLDA0ODw")
    }
}
