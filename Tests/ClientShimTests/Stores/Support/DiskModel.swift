import TestKit

/// A disk as POSIX promises it and no better: only what was synced is sure to be there after a power failure. Of the changes to
/// a directory since its last fsync any may be missing, and a file that was not synced may be empty, cut or full of zeros.
struct DiskModel {
    /// What stands under a path.
    enum Entry: Hashable {
        case folder
        case file([UInt8])
    }

    /// A call that the model knows nothing of: it must learn it before its word counts.
    struct UnknownCall: Error {
        let name: String
    }

    private enum Node {
        case folder(Folder)
        case file(File)
    }

    private final class File {
        var synced: [UInt8] = []
        var now: [UInt8] = []
    }

    private final class Folder {
        var synced: [String: Node] = [:]
        var changes: [Change] = []
        var now: [String: Node] { changes.reduce(into: synced) { $1.apply(to: &$0) } }
    }

    private enum Change {
        case put(String, Node)
        case take(String)
        case move(String, String, Node)

        func apply(to entries: inout [String: Node]) {
            switch self {
            case .put(let name, let node): entries[name] = node
            case .take(let name): entries[name] = nil
            case .move(let from, let to, let node):
                entries[from] = nil
                entries[to] = node
            }
        }
    }

    private let root = Folder()
    private var open: [Int: Node] = [:]

    /// What is there now, the power being on.
    var now: [String: Entry] {
        Self.tree(root) {
            $0.now
        } contents: {
            $0.now
        }
    }

    /// Takes note of a call.
    mutating func apply(_ call: FileCall) throws {
        guard call.result >= 0 else { return }
        let words = call.arguments
        switch call.name {
        case "say", "fstat", "flock", "read": break
        case "mkdir": change(words[0]) { .put($0, .folder(Folder())) }
        case "create", "ensure", "open":
            if node(words[0]) == nil { change(words[0]) { .put($0, .file(File())) } }
            open[call.result] = node(words[0])
        case "close": if let file = Int(words[0]) { open[file] = nil }
        case "write":
            if case .file(let file) = Int(words[0]).flatMap({ open[$0] }) {
                file.now += Self.octets(words[1])
            }
        case "fsync":
            switch Int(words[0]).flatMap({ open[$0] }) {
            case .file(let file): file.synced = file.now
            case .folder(let folder): (folder.synced, folder.changes) = (folder.now, [])
            case nil: break
            }
        case "unlink": change(words[0]) { .take($0) }
        case "link": if let node = node(words[0]) { change(words[1]) { .put($0, node) } }
        case "rename":
            guard let node = node(words[0]), Self.folder(words[0]) == Self.folder(words[1]) else {
                throw UnknownCall(name: "rename between directories")
            }
            change(words[0]) { .move($0, Self.name(words[1]), node) }
        default: throw UnknownCall(name: call.name)
        }
    }

    /// Everything the disk may hold when the power fails now.
    func afterPowerFailure() -> Set<[String: Entry]> { Set(Self.outcomes(root)) }

    // MARK: - Steps

    private static func outcomes(_ folder: Folder) -> [[String: Entry]] {
        (0..<(1 << folder.changes.count)).flatMap { chosen -> [[String: Entry]] in
            var entries = folder.synced
            for (index, change) in folder.changes.enumerated() where chosen >> index & 1 == 1 {
                change.apply(to: &entries)
            }
            return entries.reduce([[:]]) { trees, entry in
                trees.flatMap { tree in
                    outcomes(entry.key, entry.value).map { tree.merging($0) { $1 } }
                }
            }
        }
    }

    private static func outcomes(_ name: String, _ node: Node) -> [[String: Entry]] {
        switch node {
        case .folder(let folder):
            return outcomes(folder).map { below in
                below.reduce(into: [name: .folder]) { $0["\(name)/\($1.key)"] = $1.value }
            }
        case .file(let file):
            guard file.synced != file.now else { return [[name: .file(file.now)]] }
            return [
                file.synced, Array(file.now.prefix(file.now.count / 2)),
                [UInt8](repeating: 0, count: file.now.count), file.now,
            ].map { [name: .file($0)] }
        }
    }

    private static func tree(
        _ folder: Folder, _ entries: (Folder) -> [String: Node], contents: (File) -> [UInt8]
    ) -> [String: Entry] {
        entries(folder).reduce(into: [:]) { tree, entry in
            switch entry.value {
            case .file(let file): tree[entry.key] = .file(contents(file))
            case .folder(let below):
                tree[entry.key] = .folder
                for (name, node) in Self.tree(below, entries, contents: contents) {
                    tree["\(entry.key)/\(name)"] = node
                }
            }
        }
    }

    private static func name(_ path: String) -> String {
        path.split(separator: "/").last.map { String($0) } ?? path
    }

    private static func folder(_ path: String) -> Substring? {
        path.lastIndex(of: "/").map { path[..<$0] }
    }

    private func node(_ path: String) -> Node? {
        guard path != "." else { return .folder(root) }
        return path.split(separator: "/").reduce(Node.folder(root)) { node, name in
            guard case .folder(let folder) = node else { return nil }
            return folder.now[String(name)]
        }
    }

    private func change(_ path: String, _ change: (String) -> Change) {
        let parent = Self.folder(path).map { String($0) } ?? "."
        guard case .folder(let folder) = node(parent) else { return }
        folder.changes.append(change(Self.name(path)))
    }

    private static func octets(_ text: String) -> [UInt8] {
        let digits = Array(text.utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...($0 + 1)], as: UTF8.self), radix: 16)
        }
    }
}
