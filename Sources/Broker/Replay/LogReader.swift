import Glibc

/// The lines of a file or of standard input, one at a time: however long a log is, one buffer of it is held.
final class LogReader {
    /// The broker's own lines have some hundred octets; what is longer than this is no line of its.
    static let longestLine = 65_536

    enum Line {
        case text([UInt8])
        /// Longer than `longestLine`; read past.
        case overlong
    }

    /// How a person finds the file: its path, or `-`.
    let name: String
    /// Number of the line that was read last, from 1.
    private(set) var lineNumber = 0
    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    private var unread = 0..<0

    /// - Parameter path: `-` for standard input.
    init(_ path: String) throws(CommandError) {
        name = path
        descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .refused("\(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// The next line without its line feed; `nil` at the end.
    func next() throws(CommandError) -> Line? {
        var line: [UInt8] = []
        var isOverlong = false
        var hasBegun = false
        while true {
            if unread.isEmpty {
                guard try fill() else { break }
            }
            hasBegun = true
            let end = buffer[unread].firstIndex(of: 0x0a)
            let part = unread.lowerBound..<(end ?? unread.upperBound)
            if line.count + part.count > Self.longestLine {
                isOverlong = true
                line = []
            } else if !isOverlong {
                line += buffer[part]
            }
            unread = (end.map { $0 + 1 } ?? unread.upperBound)..<unread.upperBound
            if end != nil { break }
        }
        guard hasBegun else { return nil }
        lineNumber += 1
        return isOverlong ? .overlong : .text(line)
    }

    /// False at the end.
    private func fill() throws(CommandError) -> Bool {
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw .unavailable("\(name): \(String(cString: strerror(errno)))")
            }
            unread = 0..<count
            return count > 0
        }
    }
}
