import Foundation
import Glibc
import JOSE
import TestKit

@testable import Broker

/// An event log that writes into a file, and what it wrote.
final class LogFile: Sendable {
    let log: EventLog
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        // Never closed: something may still log after its test has ended, and the number would by then be another file's.
        let descriptor = open(directory.file("log"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
        log = EventLog(descriptor: descriptor)
    }

    /// Everything written so far, as text.
    func text() async throws -> String {
        await log.flush(within: .seconds(30))
        return String(decoding: try directory.read("log"), as: UTF8.self)
    }

    /// Every line so far.
    func lines() async throws -> [String] {
        try await text().split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(
            String.init)
    }

    /// The events whose names begin so, parsed.
    func events(_ name: String) async throws -> [JSONValue] {
        try await lines().map { try JSONValue(parsing: Array($0.utf8)) }
            .filter { $0["event"]?.string?.hasPrefix(name) == true }
    }
}
