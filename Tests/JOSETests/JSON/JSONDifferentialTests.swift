import JOSE
import TestKit
import Testing

/// Our reader beside Python's, on the same texts.
@Suite struct JSONDifferentialTests {
    @Test func `both take and refuse the same texts, and read the same values`() async throws {
        var corpus = JSONCorpus(seed: 7)
        var texts: [[UInt8]] = []
        for _ in 0..<1000 {
            let text = corpus.text()
            texts += [text, corpus.damaged(text), corpus.damaged(text), corpus.damaged(text)]
        }
        let verdicts = try await Oracle.ask(
            "json_reader.py", texts.map { #"{"text":"\#(Base64URL.encode($0))"}"# })

        var accepted = 0
        for (text, verdict) in zip(texts, verdicts) {
            let ours = try? JSONValue(parsing: text)
            let theirs = verdict["accepted"]?.bool == true ? verdict["value"]?.string : nil
            #expect(
                ours.map(Self.plain) == theirs, "\(String(decoding: text, as: UTF8.self)) \(text)")
            if theirs != nil { accepted += 1 }
        }
        // Both kinds must be well represented, or the comparison says little.
        #expect(accepted > 900)
        #expect(texts.count - accepted > 900)
    }

    @Test(arguments: 0..<300)
    func `what the writer writes again reads as the same value`(seed: Int) throws {
        var corpus = JSONCorpus(seed: UInt64(seed))
        guard let value = try? JSONValue(parsing: corpus.text()) else { return }
        var writer = JSONWriter()
        writer.value(value)
        #expect(Self.plain(try JSONValue(parsing: writer.bytes)) == Self.plain(value))
    }

    /// The plain form that `json_reader.py` writes.
    private static func plain(_ value: JSONValue) -> String {
        switch value.kind {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .number(let number): number.text
        case .string(let text): plain(text)
        case .array(let elements): "[" + elements.map(plain).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { plain($0.name) + ":" + plain($0.value) }.joined(separator: ",")
                + "}"
        }
    }

    private static func plain(_ text: String) -> String {
        let short: [UInt16: String] = [
            0x22: #"\""#, 0x5c: #"\\"#, 0x08: #"\b"#, 0x0c: #"\f"#, 0x0a: #"\n"#, 0x0d: #"\r"#,
            0x09: #"\t"#,
        ]
        let units = text.utf16.map { unit -> String in
            if let escape = short[unit] { return escape }
            if let scalar = Unicode.Scalar(unit), (0x20..<0x7f).contains(unit) {
                return String(Character(scalar))
            }
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
        return "\"" + units.joined() + "\""
    }
}
