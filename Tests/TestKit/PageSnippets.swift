import Foundation

/// The Swift code of a page of `docs/`, which stands in a source file that the tests compile and run.
public enum PageSnippets {
    /// How many snippets the page has, and the first line of each that does not stand in the file.
    ///
    /// - Parameters:
    ///   - page: its path under `docs/`.
    ///   - file: its path under `Tests/`.
    public static func missing(
        of page: String, in file: String
    ) throws -> (count: Int, missing: [String]) {
        let code = lines(try text(file))
        let snippets = try text("../docs/" + page).components(separatedBy: "```swift\n").dropFirst()
            .map { lines($0.components(separatedBy: "```")[0]) }
        let missing = snippets.filter { snippet in
            !code.indices.contains { code[$0...].starts(with: snippet) }
        }
        return (snippets.count, missing.map { $0.first ?? "" })
    }

    private static func text(_ name: String) throws -> String {
        try String(contentsOfFile: Fixtures.path(name), encoding: .utf8)
    }

    /// Without indentation, which a page and a file need not share.
    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
