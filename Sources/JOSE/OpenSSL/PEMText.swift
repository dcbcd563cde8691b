/// The blocks of a PEM file (RFC 7468), read from any of the spellings that editors and copy-paste produce.
struct PEMText {
    struct Block {
        let label: String
        /// The block with its BEGIN and END lines, LF line ends.
        let text: [UInt8]
    }

    let blocks: [Block]
    /// A BEGIN line without its END: the file was cut, or put together from a cut one.
    let isCut: Bool

    /// Whether the octets look like PEM at all, rather than DER.
    static func looksLikePEM(_ bytes: [UInt8]) -> Bool {
        bytes.firstRange(of: Array("-----BEGIN ".utf8)) != nil
    }

    /// - Parameter bytes: may start with a byte order mark, use LF, CRLF, CR or the two characters `\n` as line ends, and
    ///   have text before, between and after the blocks.
    init(_ bytes: [UInt8]) {
        var blocks: [Block] = []
        var label: String?
        var lines: [[UInt8]] = []
        var isCut = false
        for line in Self.lines(of: bytes) {
            if let begun = Self.marker("-----BEGIN ", line) {
                isCut = isCut || label != nil
                label = begun
                lines = [line]
            } else if let open = label {
                lines.append(line)
                // The older encryption has fields in front of the content, and a blank line between (RFC 1421 §4.4).
                if line.starts(with: Array("DEK-Info:".utf8)) { lines.append([]) }
                guard Self.marker("-----END ", line) == open else { continue }
                blocks.append(
                    Block(label: open, text: Array(lines.joined(separator: [0x0a])) + [0x0a]))
                label = nil
            }
        }
        self.blocks = blocks
        self.isCut = isCut || label != nil
    }

    private static func marker(_ start: String, _ line: [UInt8]) -> String? {
        let start = Array(start.utf8)
        let end = Array("-----".utf8)
        guard line.starts(with: start), line.count > start.count + end.count,
            line.suffix(5).elementsEqual(end)
        else { return nil }
        return String(decoding: line.dropFirst(start.count).dropLast(end.count), as: UTF8.self)
    }

    private static func lines(of bytes: [UInt8]) -> [[UInt8]] {
        var bytes = bytes[...]
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { bytes = bytes.dropFirst(3) }
        let lineFeed: UInt8 = 0x0a
        let carriageReturn: UInt8 = 0x0d
        var lines = bytes.split { $0 == lineFeed || $0 == carriageReturn }.map(Array.init)
        if lines.count == 1 {
            // An environment variable often holds the two characters `\n` where a line should end.
            lines = lines[0].split(separator: Array("\\n".utf8)).map(Array.init)
        }
        return lines.map { line in
            let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
            let end = line.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? 0
            return Array(line[..<end].drop(while: isBlank))
        }
    }
}
