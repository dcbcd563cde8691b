/// An absolute path that a Unix socket can be bound to: at most 107 octets (`unix(7)`), no NUL, no `/` at the end.
public struct UnixSocketPath: Sendable, Hashable, CustomStringConvertible {
    /// The path.
    public let description: String

    /// The most octets of a path: `sun_path` has 108 and the last is NUL.
    static let maximumLength = 107

    /// `nil` for anything else.
    public init?(_ path: String) {
        let octets = path.utf8
        guard octets.first == UInt8(ascii: "/"), octets.last != UInt8(ascii: "/"),
            octets.count <= Self.maximumLength, !octets.contains(0)
        else { return nil }
        description = path
    }

    /// The directory that holds the file.
    var directory: String {
        let end = description.lastIndex(of: "/") ?? description.startIndex
        return end == description.startIndex ? "/" : String(description[..<end])
    }
}

/// The permission bits of a file, without set-id and sticky bits.
public struct FileMode: Sendable, Hashable {
    /// 0 to 0o777.
    public let bits: UInt32

    /// Owner and group: `0660`.
    public static let ownerAndGroup = FileMode(bits: 0o660)

    private init(bits: UInt32) { self.bits = bits }

    /// Reads three or four octal digits, such as `0660`; `nil` for anything else, and for set-id and sticky bits.
    public init?(octal text: String) {
        guard (3...4).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x37).contains($0) }),
            let bits = UInt32(text, radix: 8), bits <= 0o777
        else { return nil }
        self.bits = bits
    }

    /// Whether every process of the machine may connect to a socket file of this mode (`unix(7)`: writing is connecting).
    public var admitsEveryone: Bool { bits & 0o002 != 0 }
}
