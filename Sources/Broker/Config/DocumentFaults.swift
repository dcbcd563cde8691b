import JOSE

/// One thing that is wrong with a document, with the place a person has to look at.
struct DocumentFault: Sendable, Equatable, CustomStringConvertible {
    /// Member names from the top, such as `tenants.acme.clients.app.lifetime`.
    let path: String
    let line: Int
    let column: Int
    let message: String

    var description: String { "line \(line), column \(column): \(path): \(message)" }
}

/// Collects every fault of a document, so that a person mends a file once and not once for each fault.
struct DocumentFaults {
    private let bytes: [UInt8]
    private(set) var list: [DocumentFault] = []

    init(in bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isEmpty: Bool { list.isEmpty }

    mutating func add(_ message: String, path: String, offset: Int) {
        let (line, column) = JSONPosition.lineAndColumn(of: offset, in: bytes)
        list.append(DocumentFault(path: path, line: line, column: column, message: message))
    }
}

/// A document that was refused, with all its faults.
struct DocumentRefused: Error, Sendable, CustomStringConvertible {
    let faults: [DocumentFault]

    var description: String { faults.map(\.description).joined(separator: "\n") }
}
