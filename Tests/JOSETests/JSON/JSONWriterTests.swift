import JOSE
import TestKit
import Testing

@Suite struct JSONWriterTests {
    @Test func `members, elements and nesting are separated as they should be`() {
        var json = JSONWriter()
        json.object {
            $0.member("a", 1)
            $0.member("b", "x")
            $0.member("c", true)
            $0.name("d")
            $0.array {
                $0.null()
                $0.bool(false)
                $0.object { _ in }
                $0.array { _ in }
                $0.integer(UInt64.max)
            }
            $0.name("e")
            $0.object { $0.member("f", Int64.min) }
        }
        #expect(
            json.text
                == #"{"a":1,"b":"x","c":true,"d":[null,false,{},[],18446744073709551615],"e":{"f":-9223372036854775808}}"#
        )
    }

    /// Cases, ops "Log forging".
    @Test(arguments: [
        "\r\n{\"event\":\"assertion.minted\"}", "\u{85}next line", "\u{2028}\u{2029}",
        "\u{1b}[2J\u{1b}]0;title\u{7}",
        "\u{9b}31m", "\"},{\"code\":\"", "\\\"", "\u{0}", "\u{7f}", "a\u{9f}b", "%0d%0a",
    ])
    func `text from outside cannot end a line, close a string or reach a terminal`(text: String)
        throws
    {
        var json = JSONWriter()
        json.object { $0.member("value", text) }
        #expect(!json.text.unicodeScalars.contains { Self.isDangerous($0) })
        let read = try JSONValue(parsing: json.bytes)
        #expect(read.members?.count == 1)
        #expect(read["value"]?.string?.unicodeScalars.elementsEqual(text.unicodeScalars) == true)
    }

    @Test func `every scalar up to U+3000 and some beyond is read back as it was`() throws {
        let scalars = (0...0x3000).compactMap(
            Unicode.Scalar.init(_:) as (UInt32) -> Unicode.Scalar?)
        let beyond: [Unicode.Scalar] = [
            "\u{d7ff}", "\u{e000}", "\u{feff}", "\u{ffff}", "\u{10000}", "\u{10ffff}",
        ]
        for scalar in scalars + beyond {
            let text = "a" + String(Character(scalar)) + "z"
            var json = JSONWriter()
            json.string(text)
            let read = try JSONValue(parsing: json.bytes).string
            #expect(read?.unicodeScalars.elementsEqual(text.unicodeScalars) == true)
            #expect(!json.text.unicodeScalars.contains { Self.isDangerous($0) })
        }
    }

    @Test(arguments: 0..<100)
    func `any text is read back as it was`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let text = String(decoding: random.bytes(count: 80), as: UTF8.self)
        var json = JSONWriter()
        json.array {
            $0.string(text)
            $0.string("")
        }
        let read = try JSONValue(parsing: json.bytes).array
        #expect(read?.count == 2)
        #expect(read?.first?.string.map { Array($0.utf8) } == Array(text.utf8))
    }

    private static func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) || scalar == "\u{2028}"
            || scalar == "\u{2029}"
    }
}
