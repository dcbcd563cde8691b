import JOSE
import Testing

@Suite struct JSON5Tests {
    private static func read(_ text: String) throws(JSONError) -> JSONValue {
        try JSONValue(parsing: Array(text.utf8), dialect: .json5)
    }

    @Test func `a configuration file as people write it`() throws {
        let json = try Self.read(
            """
            // the broker
            {
              listen: "127.0.0.1:8443", /* loopback
                                           only */
              $tag_1: 'it\\'s "fine"',
              limits: [+5, 0x10, 0XfF,],
              ratio: 0.5, // a half
            }
            """)
        #expect(json["listen"]?.string == "127.0.0.1:8443")
        #expect(json["$tag_1"]?.string == "it's \"fine\"")
        #expect(json["limits"]?.array?.map(\.integer) == [5, 16, 255])
        #expect(json["ratio"]?.number?.double == 0.5)
    }

    @Test(arguments: [
        "\u{feff}{}", "{}//", "{}// end", "{}/**/", "/*/ */{}", "{/***/}", "[/*]*/]", "{a:1,}",
        "[1,]",
        "//\r{}", "{ // comment\r\n }", "[1,//\n2]", "\"a\\\nb\"",
    ])
    func `accepted`(text: String) {
        #expect(throws: Never.self) { try Self.read(text) }
    }

    @Test(arguments: [
        "{,}", "[,]", "[1,,]", "{a:1,,}", "/*", "{}/*", "/", "{}/", "{}/ /", "{}# no", "{a 1}",
        "{1a:1}", "{-a:1}",
        "{é:1}", "[+]", "[+-1]", "[-+1]", "[++1]", "[0x]", "[-0x1]", "[0x1g]",
        "[0xfffffffffffffffff]",
        "[.5]", "[5.]", "[NaN]", "[Infinity]", "[01]", "'a", "'a\"", "'a\n'", "\"\\x41\"",
        "{a:1 b:2}", "{}}", "[1]//\n2",
        "{\r// x\r",
    ])
    func `refused`(text: String) {
        #expect(throws: JSONError.self) { try Self.read(text) }
    }

    @Test(arguments: ["{a:1,a:2}", "{a:1,'a':2}", "{a:1,\"\\u0061\":2}", "{'a':1,\"a\":2}"])
    func `a name twice is refused in every quoting`(text: String) {
        do {
            _ = try Self.read(text)
            Issue.record("accepted")
        } catch { #expect(error.reason == .duplicateMember) }
    }

    @Test func `what was read can be written as plain JSON`() throws {
        var writer = JSONWriter()
        writer.value(try Self.read("{a:0x10,b:+1,c:'x',d:[1,],}"))
        #expect(writer.text == #"{"a":16,"b":1,"c":"x","d":[1]}"#)
    }

    @Test func `an unfinished comment is named where it began`() {
        do {
            _ = try Self.read("{\n /* never\nends")
            Issue.record("accepted")
        } catch {
            #expect(error.reason == .unexpectedEnd)
            #expect(error.line == 2)
            #expect(error.column == 2)
        }
    }
}
