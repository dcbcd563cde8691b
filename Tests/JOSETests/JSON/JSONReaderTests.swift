import JOSE
import Testing

@Suite struct JSONReaderTests {
    static func read(_ text: String, depth: Int = 16) throws(JSONError) -> JSONValue {
        try JSONValue(parsing: Array(text.utf8), maximumDepth: depth)
    }

    @Test func `a whole document`() throws {
        let json = try Self.read(
            #" {"a":"x\u00e9\n","b":[1,-2.5e3,true,false,null],"c":{"d":""}} "#)
        #expect(json["a"]?.string == "xé\n")
        #expect(json["b"]?.array?.map(\.integer) == [1, nil, nil, nil, nil])
        #expect(json["b"]?.array?[1].number?.double == -2500)
        #expect(json["b"]?.array?[2].bool == true)
        #expect(json["b"]?.array?[4].isNull == true)
        #expect(json["c"]?["d"]?.string == "")
        #expect(json["e"] == nil)
        #expect(json["a"]?["b"] == nil)
    }

    @Test(
        arguments: [
            ("", .unexpectedEnd), (" ", .unexpectedEnd), ("{", .unexpectedEnd),
            (#"{"a""#, .unexpectedEnd), (#"{"a":"#, .unexpectedEnd), (#"{"a":1"#, .unexpectedEnd),
            (#"{"a":1,"#, .unexpectedEnd), ("[1,", .unexpectedEnd), ("\"a", .unexpectedEnd),
            ("\"\\", .unexpectedEnd), ("\"\\u12", .unexpectedEnd), ("tru", .unexpectedEnd),
            (#"{"a":1}x"#, .trailingBytes), ("1 2", .trailingBytes), ("{}{}", .trailingBytes),
            ("null\u{0}", .trailingBytes), ("{,}", .unexpectedCharacter),
            ("[,]", .unexpectedCharacter),
            ("[1,]", .unexpectedCharacter), (#"{"a":1,}"#, .unexpectedCharacter),
            (#"{"a"=1}"#, .unexpectedCharacter), (#"{"a" "b"}"#, .unexpectedCharacter),
            ("{a:1}", .unexpectedCharacter), ("{'a':1}", .unexpectedCharacter),
            ("{1:1}", .unexpectedCharacter), ("'a'", .unexpectedCharacter),
            ("[1 2]", .unexpectedCharacter), ("[1}", .unexpectedCharacter),
            ("{\"a\":1]", .unexpectedCharacter), ("/* */1", .unexpectedCharacter),
            ("//\n1", .unexpectedCharacter), ("nul!", .unexpectedCharacter),
            ("True", .unexpectedCharacter), ("NaN", .unexpectedCharacter),
            ("Infinity", .unexpectedCharacter), ("\u{a0}1", .unexpectedCharacter),
            ("\u{c}1", .unexpectedCharacter), ("undefined", .unexpectedCharacter),
        ] as [(String, JSONError.Reason)])
    func `text outside the grammar is refused`(text: String, reason: JSONError.Reason) {
        #expect(throws: JSONError.self) { try Self.read(text) }
        do { _ = try Self.read(text) } catch { #expect(error.reason == reason) }
    }

    @Test(arguments: [
        "-", "+1", "01", "-01", "00", "1.", ".5", "1.e3", "1e", "1e+", "0x10", "1e3.5", "--1",
        "1-2",
        "-Infinity", "1abc", "1_000", "-.5", "1.2.3", "٣",
    ])
    func `numbers outside the grammar are refused`(text: String) {
        #expect(throws: JSONError.self) { try Self.read("[\(text)]") }
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("9223372036854775807", .max), ("-9223372036854775808", .min),
            ("9223372036854775808", nil), ("1.0", nil), ("1e2", nil), ("1E-2", nil),
            ("18446744073709551616", nil),
        ] as [(String, Int64?)])
    func `an integer is what is written as one and fits`(text: String, value: Int64?) throws {
        #expect(try Self.read(text).integer == value)
    }

    @Test func `a number too large for a double is read, and is no double`() throws {
        let number = try #require(try Self.read("1e400").number)
        #expect(number.double == nil)
        #expect(number.text == "1e400")
    }

    @Test(
        arguments: [
            ("0", 0), ("1700000000", 1_700_000_000), ("1700000000.5", 1_700_000_000.5),
            ("1.7e9", 1_700_000_000), ("-1", nil), ("-0.5", nil),
            ("9007199254740992", 9_007_199_254_740_992),
            ("9007199254740994", nil), ("1e400", nil), ("\"1700000000\"", nil), ("null", nil),
            ("true", nil), ("[1]", nil), ("18446744073709551615", nil),
        ] as [(String, Double?)])
    func `RFC 7519 §2: a NumericDate is a number from 0 to 2^53, never digits in quotes`(
        text: String, seconds: Double?
    ) throws {
        #expect(try Self.read(text).numericDate == seconds)
    }

    @Test(arguments: [
        #"{"a":1,"a":1}"#, #"{"a":1,"\u0061":2}"#, #"{"\u0061\u002F":1,"a\/":2}"#, #"{"":1,"":2}"#,
        #"{"x":{"b":1,"c":2,"b":3}}"#, #"[{"é":1,"\u00e9":2}]"#, #"{"😀":1,"\ud83d\ude00":2}"#,
    ])
    func `a member name twice is refused however it is spelt`(text: String) {
        do {
            _ = try Self.read(text)
            Issue.record("accepted \(text)")
        } catch { #expect(error.reason == .duplicateMember) }
    }

    @Test func `names that only look alike are different names`() throws {
        let json = try Self.read(#"{"\u00e9":1,"e\u0301":2,"K":3,"\u212a":4,"k":5}"#)
        #expect(json["\u{e9}"]?.integer == 1)
        #expect(json["e\u{301}"]?.integer == 2)
        #expect(json["K"]?.integer == 3)
        #expect(json["\u{212a}"]?.integer == 4)
    }

    @Test func `duplicates are found among many members too`() throws {
        let names = (0..<200).map { "\"m\($0)\":\($0)" }
        let json = try Self.read("{\(names.joined(separator: ","))}")
        #expect(json.members?.count == 200)
        #expect(json["m199"]?.integer == 199)
        for name in ["m0", "m15", "m16", "m17", "m199"] {
            do {
                _ = try Self.read("{\((names + ["\"\(name)\":0"]).joined(separator: ","))}")
                Issue.record("accepted \(name) twice")
            } catch { #expect(error.reason == .duplicateMember) }
        }
    }

    @Test(arguments: [
        #""\ud800""#, #""\udc00""#, #""\ud800x""#, #""\ud800\n""#, #""\ud800\ud800""#,
        #""\udc00\ud800""#, #""\ud83d\u0041""#, #""\u12g4""#, #""\u+123""#, #""\x41""#, #""\'""#,
        #""\a""#, #""\U0041""#, "\"\n\"", "\"\t\"", "\"\u{0}\"", "\"\u{1f}\"", #""\u 041""#,
    ])
    func `strings with a lone surrogate, a bad escape or a control character are refused`(
        text: String
    ) {
        do {
            _ = try Self.read(text)
            Issue.record("accepted \(text)")
        } catch { #expect(error.reason == .badString) }
    }

    @Test func `escapes give what they name`() throws {
        #expect(
            try Self.read(#""\"\\\/\b\f\n\r\t\u0041\u20AC\ud83D\uDE00\u0000""#).string
                == "\"\\/\u{8}\u{c}\n\r\tA€😀\u{0}")
    }

    @Test(
        arguments: [
            [0xff], [0xc0, 0x80], [0xc1, 0xbf], [0xe0, 0x80, 0x80], [0xed, 0xa0, 0x80],
            [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82], [0x80], [0xc3],
        ] as [[UInt8]])
    func `octets that are no UTF-8 are refused in values and names`(octets: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        for text in [
            [quote] + octets + [quote], [quote, 0x5c, 0x6e] + octets + [quote],
            [UInt8(ascii: "{"), quote] + octets + Array("\":1}".utf8),
        ] {
            do {
                _ = try JSONValue(parsing: text)
                Issue.record("accepted \(text)")
            } catch { #expect(error.reason == .notUTF8) }
        }
    }

    @Test func `a byte order mark is refused`() {
        for mark in [[0xef, 0xbb, 0xbf], [0xff, 0xfe], [0xfe, 0xff]] as [[UInt8]] {
            #expect(throws: JSONError.self) { try JSONValue(parsing: mark + Array("{}".utf8)) }
        }
    }

    @Test func `a fault names line and column, and never the text`() throws {
        let text = "{\n  \"a\": 1,\n  \"secret\": canary\n}"
        do {
            _ = try Self.read(text)
            Issue.record("accepted")
        } catch {
            #expect(error.line == 3)
            #expect(error.column == 13)
            #expect(error.offset == 24)
            #expect(error.description == "line 3, column 13: unexpected character")
        }
    }

    @Test func `values and names know where they stand`() throws {
        let text = "{\"a\": [10, \"b\"]}"
        let json = try Self.read(text)
        #expect(json.offset == 0)
        #expect(json.members?.first?.offset == 1)
        #expect(json["a"]?.offset == 6)
        #expect(json["a"]?.array?.map(\.offset) == [7, 11])
    }
}
