import JOSE
import TestKit
import Testing

/// Checks log lines with a judge that is not ours.
enum LogSchema {
    /// Records an issue for each line that `deploy/log-schema.json` does not allow.
    static func check(_ lines: [String], sourceLocation: SourceLocation = #_sourceLocation)
        async throws
    {
        #expect(!lines.isEmpty, sourceLocation: sourceLocation)
        let questions = lines.map { line in
            var json = JSONWriter()
            json.object { $0.member("line", line) }
            return json.text
        }
        for (line, answer) in zip(lines, try await Oracle.ask("log_schema.py", questions)) {
            if let fault = answer["fault"]?.string {
                Issue.record("\(fault)\n\(line)", sourceLocation: sourceLocation)
            }
        }
    }
}
