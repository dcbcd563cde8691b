import TestKit

/// Seeded JSON texts, good and damaged.
struct JSONCorpus {
    private var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    /// A text of the grammar, blanks and escapes included.
    mutating func text() -> [UInt8] {
        blanks() + value(depth: 0) + blanks()
    }

    /// `text` with a few octets removed, doubled, changed or put in.
    mutating func damaged(_ text: [UInt8]) -> [UInt8] {
        var text = text
        for _ in 0...Int.random(in: 0...2, using: &random) {
            let index = Int.random(in: 0...text.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: if index < text.count { text.remove(at: index) }
            case 1: if index < text.count { text.insert(text[index], at: index) }
            case 2: if index < text.count { text[index] = random.bytes(count: 1)[0] }
            case 3: text.removeSubrange(index...)
            default: text.insert(contentsOf: pick(Self.fragments), at: index)
            }
        }
        return text
    }

    private mutating func value(depth: Int) -> [UInt8] {
        switch Int.random(in: 0..<(depth < 6 ? 9 : 5), using: &random) {
        case 0: pick(["true", "false", "null"])
        case 1, 2: number()
        case 3, 4: string()
        case 5, 6:
            Array("[".utf8) + list { $0.value(depth: depth + 1) } + Array("]".utf8)
        default:
            Array("{".utf8)
                + list {
                    $0.string() + $0.blanks() + [0x3a] + $0.blanks() + $0.value(depth: depth + 1)
                }
                + Array("}".utf8)
        }
    }

    private mutating func list(_ element: (inout Self) -> [UInt8]) -> [UInt8] {
        var text = blanks()
        for index in 0..<Int.random(in: 0...4, using: &random) {
            if index > 0 { text += [0x2c] }
            text += blanks() + element(&self) + blanks()
        }
        return text
    }

    private mutating func number() -> [UInt8] {
        pick([
            "0", "-0", "1", "-1", "12345678901234567890", "0.5", "-0.25e10", "1E+5", "1e-400",
            "1e400", "9007199254740993",
        ])
    }

    private mutating func string() -> [UInt8] {
        var text: [UInt8] = [0x22]
        for _ in 0..<Int.random(in: 0...3, using: &random) { text += pick(Self.stringParts) }
        return text + [0x22]
    }

    private mutating func blanks() -> [UInt8] {
        Int.random(in: 0..<4, using: &random) == 0 ? pick([" ", "\n", "\t", "\r\n", "  "]) : []
    }

    private mutating func pick(_ choices: [String]) -> [UInt8] {
        Array((choices.randomElement(using: &random) ?? "").utf8)
    }

    private static let stringParts = [
        "a", "b", "é", "e\u{301}", "\u{212a}", "K", "😀", "\u{2028}", "\u{7f}", "\u{85}", #"\""#,
        #"\\"#, #"\/"#,
        #"\b\f\n\r\t"#, #"\u0061"#, #"\u00e9"#, #"\uD83D\uDE00"#, #"\u0000"#, "/", "'",
    ]
    private static let fragments = [
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud800", "\\udc00", "0", "-", ".", "e",
        "+", "\u{feff}", "\u{0}",
        "//", "/**/", "'", "NaN", "Infinity", "tru", "\"a\":1,", "\"\\u0061\":1,", "\u{a0}",
        "\u{b}", "\n", "[[[[[[[[[[[[",
    ]
}
