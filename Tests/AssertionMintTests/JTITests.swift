import AssertionMint
import JOSE
import Testing

@Suite struct JTITests {
    /// Cases, mint "Single-use id on retry".
    @Test func `100,000 ids are all different, 22 characters and 128 bits each`() throws {
        var seen: Set<String> = []
        var everyBit = [UInt8](repeating: 0, count: 16)
        for _ in 0..<100_000 {
            let id = try JTI.random().rawValue
            seen.insert(id)
            let octets = try #require(Base64URL.decode(id))
            try #require(id.utf8.count == 22 && octets.count == 16)
            for index in everyBit.indices { everyBit[index] |= octets[index] }
        }
        #expect(seen.count == 100_000)
        #expect(everyBit == [UInt8](repeating: 0xff, count: 16), "every bit is random")
    }
}
