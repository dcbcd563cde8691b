/// `Forwarded` (RFC 7239), read from the right: each proxy adds an element behind what came.
enum ForwardedField {
    /// One element: what one proxy says of the hop before it.
    struct Element: Equatable {
        /// `for`, quotes removed.
        var node: String?
        /// `proto`, in lower case.
        var scheme: String?
    }

    static func client(
        of peer: RemoteAddress, in headers: HTTPHeaders, trusting proxies: TrustedProxies
    ) throws(HTTPRejection) -> ForwardedClient? {
        let lines = headers.all("forwarded")
        guard !lines.isEmpty else { return nil }
        var isSecure = true
        var hops = 0
        var client = peer
        for line in lines.reversed() {
            // From here on it is what the client itself may have written.
            guard proxies.contains(client) else { break }
            for element in try elements(line).reversed() {
                guard proxies.contains(client) else { break }
                hops += 1
                guard hops <= ForwardedClient.maximumHops, let node = element.node,
                    let address = ForwardedNode.address(node)
                else { throw .malformedForwarding }
                switch element.scheme {
                case "https": break
                case "http": throw .insecureForwarding
                case nil: isSecure = false
                default: throw .malformedForwarding
                }
                client = address
            }
        }
        return ForwardedClient(address: client, isSecure: isSecure)
    }

    /// All elements of one field line. It is read from the left and as a whole, since a quoted string may hold commas: only so
    /// is it sure that what a client wrote cannot swallow what a proxy added.
    static func elements(_ line: String) throws(HTTPRejection) -> [Element] {
        var reader = ForwardedReader(Array(line.utf8))
        var elements: [Element] = []
        repeat {
            elements.append(try element(&reader))
        } while reader.skipComma()
        guard reader.isAtEnd else { throw .malformedForwarding }
        return elements
    }

    /// Pairs with `;` between them and no blanks, each name once (RFC 7239 §4).
    private static func element(
        _ reader: inout ForwardedReader
    ) throws(HTTPRejection) -> Element {
        var element = Element()
        var names: Set<String> = []
        repeat {
            guard let name = reader.token()?.lowercased(), reader.skip("="),
                let value = reader.skip("\"") ? reader.quotedRest() : reader.token(),
                names.insert(name).inserted
            else { throw .malformedForwarding }
            switch name {
            case "for": element.node = value
            case "proto": element.scheme = value.lowercased()
            default: break
            }
        } while reader.skip(";")
        return element
    }
}

/// Takes tokens and quoted strings off the front of a field line (RFC 9110 §5.6).
struct ForwardedReader {
    private var rest: ArraySlice<UInt8>

    init(_ octets: [UInt8]) { rest = octets[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let first = rest.first, first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// A comma with the blanks around it.
    mutating func skipComma() -> Bool {
        let afterBlanks = rest.drop(while: \.isBlank)
        guard afterBlanks.first == UInt8(ascii: ",") else { return false }
        rest = afterBlanks.dropFirst().drop(while: \.isBlank)
        return true
    }

    mutating func token() -> String? {
        let token = rest.prefix(while: \.isTokenOctet)
        guard !token.isEmpty else { return nil }
        rest = rest[token.endIndex...]
        return String(decoding: token, as: UTF8.self)
    }

    /// A quoted string behind its first quote, without its escapes; `nil` when it does not end.
    mutating func quotedRest() -> String? {
        var octets: [UInt8] = []
        while var octet = rest.popFirst() {
            if octet == UInt8(ascii: "\"") { return String(validating: octets, as: UTF8.self) }
            if octet == UInt8(ascii: "\\") {
                guard let escaped = rest.popFirst() else { return nil }
                octet = escaped
            }
            guard octet.isFieldOctet else { return nil }
            octets.append(octet)
        }
        return nil
    }
}
