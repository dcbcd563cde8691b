import JOSE
import TestKit

/// A file of `Tests/Fixtures/Vectors`.
struct VectorFile {
    let json: JSONValue

    init(_ name: String) throws {
        json = try JSONValue(parsing: Fixtures.bytes("Fixtures/Vectors/\(name)"), maximumDepth: 32)
    }

    subscript(_ name: String) -> JSONValue? { json[name] }

    /// Every case of a Wycheproof file with the group it stands in.
    var cases: [WycheproofCase] {
        (json["testGroups"]?.array ?? []).flatMap { group in
            (group["tests"]?.array ?? []).compactMap { WycheproofCase(group: group, test: $0) }
        }
    }
}

/// One case of a Wycheproof file.
struct WycheproofCase {
    let group: JSONValue
    let id: Int64
    let isValid: Bool
    let flags: [String]
    private let test: JSONValue

    init?(group: JSONValue, test: JSONValue) {
        guard let id = test["tcId"]?.integer, let result = test["result"]?.string,
            ["valid", "invalid"].contains(result)
        else { return nil }
        self.group = group
        self.test = test
        self.id = id
        isValid = result == "valid"
        flags = test["flags"]?.array?.compactMap(\.string) ?? []
    }

    /// The octets of a member in hexadecimal.
    func octets(_ name: String) -> [UInt8]? { test[name]?.string.flatMap(bytes(hex:)) }

    /// A member's text.
    func text(_ name: String) -> String? { test[name]?.string }
}
