import JOSE
import Testing

/// Cases, dpop "Thumbprint input".
@Suite struct DpopJktTests {
    private static let good = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"

    @Test func `43 canonical characters are taken as they are`() throws {
        let jkt = try #require(DpopJkt(Self.good))
        #expect(jkt.rawValue == Self.good)
        #expect(jkt.description == Self.good)
    }

    private static let start = String(good.dropLast())
    private static let refused: [String] = [
        "", start, "\(good)A", "\(good)=", "\(start)=", "\(start)J", "\(start)K", "\(start)L",
        good.replacing("-", with: "+"), "/\(good.dropFirst())", " \(good.dropFirst())", "\(start) ",
        "\(good)\n", "\(start)é", "\(start)\u{0}", String(repeating: "A", count: 10_240),
        String(repeating: "é", count: 43),
    ]

    @Test(arguments: refused)
    func `anything that is not the one spelling of 32 octets is refused`(text: String) {
        #expect(DpopJkt(text) == nil)
    }

    @Test func `of the 64 last characters 16 are canonical`() {
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        let taken = alphabet.filter { DpopJkt(Self.good.dropLast() + String($0)) != nil }
        #expect(taken == "AEIMQUYcgkosw048")
    }

    @Test func `letter case makes another thumbprint`() throws {
        let lower = try #require(DpopJkt(String(repeating: "a", count: 42) + "A"))
        let upper = try #require(DpopJkt(String(repeating: "A", count: 43)))
        #expect(lower != upper)
    }
}
