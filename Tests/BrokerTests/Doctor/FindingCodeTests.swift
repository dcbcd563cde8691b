import Foundation
import TestKit
import Testing

@testable import Broker

/// The codes, which scripts and runbooks go by.
@Suite struct FindingCodeTests {
    /// Rows of the tables of docs/doctor.md: a code and its level.
    private static func documented() throws -> [[String]] {
        let text = try String(
            contentsOfFile: PostgresCluster.root + "/docs/doctor.md", encoding: .utf8)
        return text.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| `") else { return nil }
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return [cells[0].trimmingCharacters(in: ["`"]), cells[1]]
        }
    }

    @Test func `the documentation lists each code once, with its level, and no other`() throws {
        let documented = try Self.documented()
        let known = FindingCode.allCases.map { [$0.rawValue, $0.level.rawValue] }
        #expect(Set(documented) == Set(known))
        #expect(documented.count == known.count)
    }

    @Test(arguments: FindingCode.allCases)
    func `whatever is not as it should be comes with advice of one line`(code: FindingCode) {
        #expect(code.advice.isEmpty == (code.level == .ok))
        #expect(!code.advice.contains("\n"))
        #expect(code.rawValue.wholeMatch(of: /[a-z]+\.[a-z_0-9]+/) != nil)
    }

    @Test(arguments: [
        ("plain", "\"plain\""), ("a\nb", "\"a?b\""), ("\u{1b}[2J", "\"?[2J\""),
        ("\u{2028}\u{202e}", "\"??\""), ("", "\"\""),
    ])
    func `text from outside stands in a report as one harmless line`(text: String, shown: String) {
        #expect(quoted(text) == shown)
    }

    @Test func `text from outside is cut, and so are lists of it`() {
        #expect(quoted(String(repeating: "x", count: 1000)).count < 210)
        #expect(quoted([String](repeating: "x", count: 1000)).count < 60)
    }
}
