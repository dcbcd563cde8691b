/// The blocks of a PEM file (RFC 7468), found in any of the spellings that editors and copy-paste produce.
///
/// It says where they lie and copies none of the text but labels, since the text may be a key.
struct PEMText {
    struct Block {
        let label: String
        /// Where its lines lie, from the BEGIN line to the END line, without blanks around them.
        let lines: [Range<Int>]
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
        var lines: [Range<Int>] = []
        var isCut = false
        for line in Self.lines(of: bytes) {
            if let begun = Self.marker("-----BEGIN ", bytes[line]) {
                isCut = isCut || label != nil
                label = begun
                lines = [line]
            } else if let open = label {
                lines.append(line)
                guard Self.marker("-----END ", bytes[line]) == open else { continue }
                blocks.append(Block(label: open, lines: lines))
                label = nil
            }
        }
        self.blocks = blocks
        self.isCut = isCut || label != nil
    }

    private static func marker(_ start: String, _ line: ArraySlice<UInt8>) -> String? {
        let start = Array(start.utf8)
        let end = Array("-----".utf8)
        guard line.starts(with: start), line.count > start.count + end.count,
            line.suffix(5).elementsEqual(end)
        else { return nil }
        return String(decoding: line.dropFirst(start.count).dropLast(end.count), as: UTF8.self)
    }

    private static func lines(of bytes: [UInt8]) -> [Range<Int>] {
        let start = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
        let lineFeed: UInt8 = 0x0a
        let carriageReturn: UInt8 = 0x0d
        // Slices of the same storage: nothing is copied.
        var lines = bytes[start...].split { $0 == lineFeed || $0 == carriageReturn }
        if lines.count == 1 {
            // An environment variable often holds the two characters `\n` where a line should end.
            lines = lines[0].split(separator: Array("\\n".utf8))
        }
        return lines.map { line in
            let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
            guard let first = line.firstIndex(where: { !isBlank($0) }),
                let last = line.lastIndex(where: { !isBlank($0) })
            else { return line.startIndex..<line.startIndex }
            return first..<(last + 1)
        }
    }
}

extension PEMText.Block {
    /// Whether one of its lines in `bytes` begins with `text`.
    func hasLine(startingWith text: String, in bytes: [UInt8]) -> Bool {
        lines.contains { bytes[$0].starts(with: text.utf8) }
    }

    /// The block with its BEGIN and END lines and LF line ends, in one buffer that never grows. The caller wipes it.
    func text(in bytes: [UInt8]) -> [UInt8] {
        // Each line with its end, and one more end behind a DEK-Info line.
        let capacity = lines.reduce(0) { $0 + $1.count + 2 }
        return [UInt8](unsafeUninitializedCapacity: capacity) { room, count in
            func add(_ octet: UInt8) {
                room[count] = octet
                count += 1
            }
            for line in lines {
                for place in line { add(bytes[place]) }
                add(0x0a)
                // The older encryption has fields in front of the content, and a blank line between (RFC 1421 §4.4).
                if bytes[line].starts(with: "DEK-Info:".utf8) { add(0x0a) }
            }
        }
    }

    /// The octets that the lines between BEGIN and END encode, in one buffer that never grows. The caller wipes it.
    /// `nil` when they are no base64.
    func decoded(in bytes: [UInt8]) -> [UInt8]? {
        KeyBase64.decode(bytes, lines: lines.dropFirst().dropLast(), spelling: .pem)
    }
}
