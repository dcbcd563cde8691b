import Foundation

/// Runs outside programs: the judges and tools of these tests.
enum Command {
    struct Result: Sendable {
        var status: Int32
        var output: String
        var errors: String
    }

    static func run(_ name: String, _ arguments: [String], input: String = "") async throws
        -> Result
    {
        try await offPool {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = [name] + arguments
            let (standardInput, output, errors) = (Pipe(), Pipe(), Pipe())
            process.standardInput = standardInput
            process.standardOutput = output
            process.standardError = errors
            try process.run()
            try? standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
            try? standardInput.fileHandleForWriting.close()
            // Neither pipe fills up with what these programs say about themselves.
            let text = output.fileHandleForReading.readDataToEndOfFile()
            let errorText = errors.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return Result(
                status: process.terminationStatus, output: String(decoding: text, as: UTF8.self),
                errors: String(decoding: errorText, as: UTF8.self))
        }
    }
}

/// A directory that goes when this object goes.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("socketserver-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    func setMode(_ mode: Int, of name: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file(name))
    }
}
