/// One `field-name ":" OWS field-value OWS` (RFC 9112 §5).
struct FieldLine {
    let name: Slice<Octets>
    /// The value as it stands behind the colon, blanks and all: framing fields are judged on it.
    let rawValue: Slice<Octets>

    /// - Parameter line: the line without its CR LF, not empty.
    init(_ line: Slice<Octets>) throws(HTTPRejection) {
        // A blank is no token octet, so this refuses a folded line, blanks before the first field and a blank
        // before the colon alike.
        guard let colon = line.firstIndex(where: { !$0.isTokenOctet }), colon > line.startIndex,
            line[colon] == UInt8(ascii: ":")
        else { throw .malformedField }
        name = line[..<colon]
        rawValue = line[(colon + 1)...]
        guard rawValue.allSatisfy(\.isFieldOctet) else { throw .malformedField }
    }

    var value: Slice<Octets> { rawValue.withoutOuterBlanks }
}
