import JOSE

/// One way to prove that one may ask for a client's assertions (`design.md` §4): all of its parts must hold.
struct Gate: Hashable, Sendable, CustomStringConvertible {
    /// What a caller can prove.
    enum Part: String, Sendable, CaseIterable {
        /// An API token of the client's tenant.
        case backendToken = "backend_token"
        /// A client certificate that our authorities stand for and the client names.
        case mtls
        /// A DPoP proof by the install's own key.
        case dpop
    }

    let parts: Set<Part>
    /// The parts joined by `+`, as the log names the gate that was passed.
    let description: String

    /// Reads `"dpop"` or `["backend_token", "dpop"]`.
    init?(_ json: JSONValue) {
        let names = json.string.map { [$0] } ?? json.array?.compactMap(\.string) ?? []
        let parts = names.compactMap(Part.init(rawValue:))
        guard !parts.isEmpty, parts.count == names.count, parts.count == (json.array?.count ?? 1),
            Set(parts).count == parts.count
        else { return nil }
        self.parts = Set(parts)
        description = parts.map(\.rawValue).sorted().joined(separator: "+")
    }

    func write(to json: inout JSONWriter) {
        let names = parts.map(\.rawValue).sorted()
        if names.count == 1 {
            json.string(names[0])
        } else {
            json.array { for name in names { $0.string(name) } }
        }
    }

    static let expectation =
        "must be one of \(Part.allCases.map(\.rawValue).joined(separator: ", ")), or a list of them that must all hold"
}
