import JOSE

extension DocumentObject {
    /// An optional list of strings, each turned into `Value`; a fault for every element that is not of that form.
    ///
    /// - Returns: `nil` when the member is absent or no list.
    func list<Value>(
        _ name: String, of expectation: String, _ faults: inout DocumentFaults,
        _ convert: (String) -> Value?
    ) -> [Value]? {
        guard let value = value(name) else { return nil }
        guard let elements = value.array, !elements.isEmpty else {
            faults.add(
                "must be a list with at least one element, and each \(expectation)",
                path: child(name), offset: value.offset)
            return nil
        }
        return elements.enumerated().compactMap { index, element in
            if let converted = element.string.flatMap(convert) { return converted }
            faults.add(
                "must be \(expectation)", path: "\(child(name))[\(index)]", offset: element.offset)
            return nil
        }
    }
}
