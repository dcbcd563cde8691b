/// Text from outside between quotation marks, harmless on a terminal and in a report: one line of printable ASCII.
func quoted(_ text: String) -> String { ForeignText.shown(text) }

/// A list of such texts, at most eight of them.
func quoted(_ texts: [String]) -> String {
    guard !texts.isEmpty else { return "nothing" }
    let shown = texts.prefix(8).map { quoted($0) }.joined(separator: ", ")
    return texts.count > 8 ? shown + ", …" : shown
}
