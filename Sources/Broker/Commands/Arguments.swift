/// A command line taken apart by what a command declares: options with a value, flags, and positional words. What follows
/// `--` is positional, since a thumbprint or a token id may begin with dashes.
struct Arguments: Sendable {
    private(set) var positional: [String] = []
    private var values: [String: String] = [:]
    private var flags: Set<String> = []

    /// - Parameters:
    ///   - options: names (with dashes) that take a value, as `--name VALUE` or `--name=VALUE`.
    ///   - allowedFlags: names that take none.
    /// - Throws: `usage` for an unknown name, a missing or repeated value, or another number of positional words.
    init(
        _ words: [String], options: Set<String>, flags allowedFlags: Set<String> = [],
        positional count: ClosedRange<Int> = 0...0
    ) throws(CommandError) {
        var rest = words[...]
        var optionsEnded = false
        while let word = rest.popFirst() {
            if word == "--", !optionsEnded {
                optionsEnded = true
                continue
            }
            guard word.hasPrefix("--"), !optionsEnded else {
                positional.append(word)
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            if allowedFlags.contains(name) {
                guard parts.count == 1 else { throw .usage("\(name) takes no value") }
                flags.insert(name)
            } else if options.contains(name) {
                guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst() else {
                    throw .usage("\(name) needs a value")
                }
                guard values.updateValue(value, forKey: name) == nil else {
                    throw .usage("\(name) is given twice")
                }
            } else {
                throw .usage("unknown option \(name)")
            }
        }
        guard count.contains(positional.count) else {
            throw .usage(
                positional.count < count.lowerBound
                    ? "an argument is missing" : "too many arguments")
        }
    }

    func value(_ name: String) -> String? { values[name] }

    func has(_ flag: String) -> Bool { flags.contains(flag) }

    func required(_ name: String) throws(CommandError) -> String {
        guard let value = values[name] else { throw .usage("\(name) is missing") }
        return value
    }

    /// A note for people, empty unless given. Without control characters: it is printed to terminals later.
    func remark(_ name: String, maximumLength: Int) throws(CommandError) -> String {
        let text = values[name] ?? ""
        guard text.utf8.count <= maximumLength else {
            throw .usage("\(name) is longer than \(maximumLength) octets")
        }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw .usage("\(name) must not hold control characters") }
        return text
    }
}
