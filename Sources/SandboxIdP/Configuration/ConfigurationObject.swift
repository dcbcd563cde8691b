import JOSE

/// Collects faults while a file is read, so that reading goes on after the first.
final class FaultCollector {
    private(set) var faults: [ConfigurationFault] = []

    func add(_ path: String, _ reason: String) {
        faults.append(ConfigurationFault(path: path, reason: reason))
    }
}

/// One object of a configuration file, whose unknown members are faults and whose members are read by type.
struct ConfigurationObject {
    private let value: JSONValue?
    private let path: String
    private let collector: FaultCollector

    /// - Parameters:
    ///   - value: `nil` stands for an empty object.
    ///   - known: every member the object may have.
    init(_ value: JSONValue?, path: String, known: [String], collector: FaultCollector) {
        self.value = value
        self.path = path
        self.collector = collector
        guard let value else { return }
        guard let members = value.members else {
            collector.add(path, "must be an object")
            return
        }
        for member in members where !known.contains(member.name) {
            collector.add(place(member.name), "is not known")
        }
    }

    func place(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

    func fault(_ name: String, _ reason: String) {
        collector.add(place(name), reason)
    }

    /// A member that must be there and be a text.
    func text(_ name: String) -> String? {
        guard value?[name] != nil else {
            fault(name, "is missing")
            return nil
        }
        return optionalText(name)
    }

    func optionalText(_ name: String) -> String? {
        guard let member = value?[name] else { return nil }
        guard let text = member.string, !text.isEmpty else {
            fault(name, "must be a text that is not empty")
            return nil
        }
        return text
    }

    func flag(_ name: String, otherwise: Bool) -> Bool {
        guard let member = value?[name] else { return otherwise }
        guard let flag = member.bool else {
            fault(name, "must be true or false")
            return otherwise
        }
        return flag
    }

    /// A whole number in `range`; `nil` after a fault or when it is absent.
    func integer(_ name: String, in range: ClosedRange<Int64>) -> Int64? {
        guard let member = value?[name] else { return nil }
        guard let number = member.integer, range.contains(number) else {
            fault(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return number
    }

    func texts(_ name: String) -> [String]? {
        guard let member = value?[name] else { return nil }
        guard let texts = member.array?.map(\.string), texts.allSatisfy({ $0?.isEmpty == false })
        else {
            fault(name, "must be a list of texts")
            return nil
        }
        return texts.compactMap(\.self)
    }

    /// An object inside this one; absent counts as empty.
    func object(_ name: String, known: [String]) -> ConfigurationObject {
        ConfigurationObject(value?[name], path: place(name), known: known, collector: collector)
    }

    func has(_ name: String) -> Bool { value?[name] != nil }

    /// A member whatever its type.
    func member(_ name: String) -> JSONValue? { value?[name] }

    /// The objects of a list that must be there.
    func objects(_ name: String, known: [String]) -> [ConfigurationObject] {
        guard let elements = value?[name]?.array else {
            fault(name, has(name) ? "must be a list of objects" : "is missing")
            return []
        }
        return elements.enumerated().map { index, element in
            ConfigurationObject(
                element, path: place("\(name)[\(index)]"), known: known, collector: collector)
        }
    }
}
