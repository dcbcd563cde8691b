import JOSE
import TestKit
import Testing

@Suite struct Base64URLTests {
    @Test func `RFC 7515 appendix C: the published octets have the published text`() {
        #expect(Base64URL.encode([3, 236, 255, 224, 193]) == "A-z_4ME")
        #expect(Base64URL.decode("A-z_4ME") == [3, 236, 255, 224, 193])
    }

    @Test(
        arguments: [
            "+w", "/w", "AA==", "AA=", "=", "A", "AAAAA", "AB", "AAB", "AA AA", " AA", "AA\n",
            "AA\r\n",
            "AA.AA", "ÅÅ", "A\u{0}", "AAAé",
        ])
    func `refuses text no encoder produces`(_ text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test func `no octets are the empty text, which is not a failure`() {
        #expect(Base64URL.encode([]) == "")
        #expect(Base64URL.decode("") == [])
    }

    @Test(arguments: 0..<200)
    func `decode undoes encode`(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let bytes = random.bytes(count: Int.random(in: 0...64, using: &random))
        #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
    }

    @Test
    func
        `every octet string has one spelling: of 64 last characters only those without stray bits decode`()
    {
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        let afterOne = alphabet.filter { Base64URL.decode("A\($0)") != nil }
        let afterTwo = alphabet.filter { Base64URL.decode("AA\($0)") != nil }
        #expect(afterOne == "AQgw")
        #expect(afterTwo == "AEIMQUYcgkosw048")
    }

    @Test func `only the 64 characters of the alphabet decode`() {
        let taken = (0...255).filter { byte in
            Base64URL.decode([UInt8(byte), UInt8(ascii: "A"), UInt8(ascii: "A"), UInt8(ascii: "A")])
                != nil
        }
        #expect(taken.count == 64)
    }
}
