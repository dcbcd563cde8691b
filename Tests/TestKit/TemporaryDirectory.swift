import Foundation

/// A new directory that only its owner may enter, removed with everything in it when this object goes.
public final class TemporaryDirectory: Sendable {
    /// The directory's absolute path, without a trailing slash.
    public let path: String

    /// Makes the directory.
    public init() throws {
        var template = Array((NSTemporaryDirectory() + "/token-broker-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        path = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of `name` in the directory.
    public func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file that only its owner may read unless `mode` says otherwise, and gives its path.
    @discardableResult
    public func write(_ bytes: [UInt8], to name: String, mode: Int = 0o600) throws -> String {
        let path = file(name)
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    /// Opens a file that exists, to be read and written.
    func open(_ path: String) throws -> FileHandle {
        guard let handle = FileHandle(forUpdatingAtPath: path) else {
            throw CocoaError(.fileReadUnknown)
        }
        return handle
    }

    /// The octets of a file in the directory.
    public func read(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: file(name))))
    }
}
