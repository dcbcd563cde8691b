/// The report for people.
extension Diagnosis {
    /// A table of what was found, each with what to do about it; the dry mints; and how it stands.
    var lines: [String] {
        var lines: [String] = []
        for finding in findings {
            lines.append(
                Self.padded(finding.level.rawValue, 9) + Self.padded(finding.code.rawValue, 30)
                    + finding.subject.description)
            lines.append(Self.indent + finding.detail)
            if !finding.code.advice.isEmpty {
                lines.append(Self.indent + "→ " + finding.code.advice)
            }
        }
        for line in notChecked { lines.append(Self.padded("-", 9) + "not checked: " + line) }
        for mint in dryMints {
            lines.append("")
            lines.append(
                "dry mint  client \(mint.clientId) for \(mint.audience), not recorded and not sent")
            lines.append(Self.indent + mint.header)
            lines.append(Self.indent + mint.claims)
        }
        lines.append("")
        lines.append(summary)
        return lines
    }

    private static let indent = String(repeating: " ", count: 9)

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}
