import Foundation
public import JOSE

/// Asks implementations other than ours: the scripts in `Tests/Oracle`, one process for a whole batch of questions.
public enum Oracle {
    /// One answer a question, in order.
    ///
    /// - Parameters:
    ///   - script: a file name in `Tests/Oracle`; it reads one JSON object a line and writes one a line.
    ///   - questions: JSON texts without line breaks.
    public static func ask(_ script: String, _ questions: [String]) async throws -> [JSONValue] {
        let output = try await runChecked(
            command(script, []),
            input: Array((questions.joined(separator: "\n") + "\n").utf8))
        let answers = try output.split(separator: UInt8(ascii: "\n")).map {
            try JSONValue(parsing: Array($0), maximumDepth: 64)
        }
        guard answers.count == questions.count else {
            throw ProcessFailure(
                description: "\(script): \(answers.count) answers to \(questions.count) questions")
        }
        return answers
    }

    /// Runs a script of `Tests/Oracle` that takes arguments, and gives what it prints; any exit status but 0 is an error.
    public static func run(_ script: String, _ arguments: [String], input: String) async throws
        -> String
    {
        let output = try await runChecked(
            command(script, arguments), input: Array(input.utf8))
        return String(decoding: output, as: UTF8.self)
    }

    /// The command of a script that runs beside a test.
    public static func command(_ script: String, _ arguments: [String]) -> [String] {
        [python, Fixtures.path("Oracle/\(script)")] + arguments
    }

    /// `script/test` names an interpreter that has the packages of `Tests/requirements.txt`.
    private static var python: String {
        ProcessInfo.processInfo.environment["PYTHON"] ?? "python3"
    }
}
