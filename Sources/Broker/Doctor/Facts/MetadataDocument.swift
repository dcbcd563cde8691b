import JOSE

/// What the checks want of a provider's metadata (RFC 8414 §2, R-100-41), read without judging it.
struct MetadataDocument: Sendable {
    /// A list of strings as the document has it.
    enum Names: Sendable, Equatable {
        case absent
        /// There, but no array of strings.
        case malformed
        case values([String])

        func contains(_ name: String) -> Bool {
            if case .values(let values) = self { values.contains(name) } else { false }
        }

        /// Those that are not `good`.
        func others(than good: Set<String>) -> [String] {
            if case .values(let values) = self { values.filter { !good.contains($0) } } else { [] }
        }

        /// For people.
        var text: String {
            switch self {
            case .absent: "it is not there"
            case .malformed: "it is no list of strings"
            case .values(let values): "it has \(quoted(values))"
            }
        }
    }

    private let json: JSONValue

    init(_ json: JSONValue) { self.json = json }

    var issuer: String? { json["issuer"]?.string }

    func names(_ member: String) -> Names {
        guard let value = json[member], !value.isNull else { return .absent }
        guard let elements = value.array else { return .malformed }
        let names = elements.compactMap(\.string)
        return names.count == elements.count ? .values(names) : .malformed
    }

    /// How an endpoint stands in the document.
    enum Endpoint: Sendable, Equatable {
        case absent
        /// No URL that a client may use.
        case unusable(String)
        case usable(String)
    }

    func endpoint(_ member: String) -> Endpoint {
        guard let value = json[member], !value.isNull else { return .absent }
        guard let text = value.string,
            let endpoint = ProviderEndpoint(
                text, takesPlain: issuer.flatMap(HTTPTargetURI.init)?.isSecure == false)
        else {
            return .unusable(value.string ?? "")
        }
        return .usable(endpoint.url)
    }
}
