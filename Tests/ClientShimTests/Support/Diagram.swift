import Foundation
import TestKit
import Testing

/// The Mermaid state diagrams of `docs/flows/`.
enum Diagram {
    /// `from --> to` of each line of the first diagram of that page, the start and end marks left out.
    static func transitions(_ page: String) throws -> Set<String> {
        let text = try String(
            contentsOfFile: Fixtures.path("../docs/flows/" + page), encoding: .utf8)
        let block = try #require(text.components(separatedBy: "```mermaid").dropFirst().first)
        let lines = try #require(block.components(separatedBy: "```").first)
            .components(separatedBy: "\n")
        let transitions = lines.compactMap { line -> String? in
            let sides = line.components(separatedBy: ":")[0].components(separatedBy: "-->")
                .map { $0.trimmingCharacters(in: .whitespaces) }
            return sides.count == 2 && !sides.contains("[*]")
                ? sides.joined(separator: " --> ") : nil
        }
        return Set(transitions)
    }
}
