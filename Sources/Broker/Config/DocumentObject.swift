import JOSE

/// One object of a document: hands out members by name and type, and notes what is missing, wrong or unknown.
///
/// Every reader returns `nil` after noting a fault, so reading goes on and finds the rest.
struct DocumentObject {
    let path: String
    let offset: Int
    let members: [JSONMember]

    /// - Parameter allowed: the names that may stand here; any other is a fault, since a misspelt setting would
    ///   otherwise silently keep its default. `nil` allows all.
    init?(_ value: JSONValue, path: String, allowed: Set<String>?, faults: inout DocumentFaults) {
        self.path = path
        offset = value.offset
        guard let members = value.members else {
            faults.add("must be an object", path: path, offset: value.offset)
            return nil
        }
        self.members = members
        guard let allowed else { return }
        for member in members where !allowed.contains(member.name) {
            let names = allowed.sorted().joined(separator: ", ")
            faults.add(
                "unknown member; known are \(names)", path: child(member.name),
                offset: member.offset)
        }
    }

    func child(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

    func value(_ name: String) -> JSONValue? {
        members.first { $0.name == name }?.value
    }

    /// A required member turned into `Value`; `convert` gives `nil` when it is not of that form.
    func required<Value>(
        _ name: String, _ expectation: String, _ faults: inout DocumentFaults,
        _ convert: (JSONValue) -> Value?
    ) -> Value? {
        guard value(name) != nil else {
            faults.add("is missing; \(expectation)", path: child(name), offset: offset)
            return nil
        }
        return optional(name, expectation, &faults, convert) ?? nil
    }

    /// An optional member: `.some(nil)` when it is there but wrong, `nil` when it is absent.
    func optional<Value>(
        _ name: String, _ expectation: String, _ faults: inout DocumentFaults,
        _ convert: (JSONValue) -> Value?
    ) -> Value?? {
        guard let value = value(name) else { return nil }
        guard let converted = convert(value) else {
            faults.add(expectation, path: child(name), offset: value.offset)
            return .some(nil)
        }
        return converted
    }

    /// An optional member with a default; a wrong one is a fault and yields the default.
    func optional<Value>(
        _ name: String, default fallback: Value, _ expectation: String,
        _ faults: inout DocumentFaults,
        _ convert: (JSONValue) -> Value?
    ) -> Value {
        (optional(name, expectation, &faults, convert) ?? nil) ?? fallback
    }

    /// An optional integer within `range`.
    func integer(
        _ name: String, default fallback: Int64, in range: ClosedRange<Int64>,
        _ faults: inout DocumentFaults
    ) -> Int64 {
        optional(
            name, default: fallback,
            "must be a whole number from \(range.lowerBound) to \(range.upperBound)",
            &faults
        ) { value in
            value.integer.flatMap { range.contains($0) ? $0 : nil }
        }
    }
}
