/// Bytes lent by a connection's buffer, for the time of one call.
typealias Octets = UnsafeBufferPointer<UInt8>

/// The octet classes of RFC 9110 §5.6 and RFC 3986 §2. HTTP is parsed as octets and never as text: in a Swift
/// `String` CR LF is one `Character`, and a search for a line end would miss it (RFC 9112 §2.2).
extension UInt8 {
    static let cr: UInt8 = 0x0D
    static let lf: UInt8 = 0x0A
    static let space: UInt8 = 0x20
    static let tab: UInt8 = 0x09

    var lowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
    var isBlank: Bool { self == .space || self == .tab }
    var isDigit: Bool { (0x30...0x39).contains(self) }

    /// The value of a hexadecimal digit.
    var hexValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }

    var isAlphanumeric: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }

    /// `tchar` of RFC 9110 §5.6.2.
    var isTokenOctet: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x5E...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x7C, 0x7E: true
        default: false
        }
    }

    /// What may stand in a field value (RFC 9110 §5.5): HTAB, SP, visible ASCII, `obs-text`.
    var isFieldOctet: Bool {
        switch self {
        case 0x09, 0x20...0x7E, 0x80...0xFF: true
        default: false
        }
    }

    /// `pchar`, `/` and `?` of RFC 3986 §3.3, without `%`.
    var isTargetOctet: Bool {
        switch self {
        case 0x30...0x39, 0x3F...0x5A, 0x61...0x7A: true  // digits, ?, @, letters
        case 0x21, 0x24, 0x26...0x2F, 0x3A, 0x3B, 0x3D, 0x5F, 0x7E: true
        default: false
        }
    }
}

extension Collection<UInt8> {
    /// Whether these octets are `text` (ASCII, lower case) in any letter case.
    func equals(lowercase text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount
            && elementsEqual(
                UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
            ) { $0.lowercased == $1 }
    }
}

extension Slice<Octets> {
    /// The same octets without SP and HTAB at either end.
    var withoutOuterBlanks: Slice<Octets> {
        var range = startIndex..<endIndex
        while let first = range.first, base[first].isBlank { range = first + 1..<range.upperBound }
        while let last = range.last, base[last].isBlank { range = range.lowerBound..<last }
        return base[range]
    }
}
