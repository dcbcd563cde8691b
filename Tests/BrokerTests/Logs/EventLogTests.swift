import Foundation
import Glibc
import JOSE
import TestKit
import Testing

@testable import Broker

@Suite struct EventLogTests {
    @Test func `each event is one line, in the order it was written`() async throws {
        let file = try LogFile()
        for number in 0..<1000 { file.log.write("test", at: 0) { $0.member("n", number) } }
        let numbers = try await file.events("test").map { $0["n"]?.integer }
        #expect(numbers == (0..<1000).map { Int64($0) })
    }

    @Test func `events of many threads never mix`() async throws {
        let file = try LogFile()
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<500 {
                        file.log.write("test", at: 0) {
                            $0.member("text", String(repeating: "\(task)", count: number))
                        }
                    }
                }
            }
        }
        #expect(try await file.events("test").count == 4000)
    }

    /// cases.md "Log forging".
    @Test(arguments: [
        "a\r\n{\"event\":\"forged\"}", "a\u{85}b", "a\u{2028}b\u{2029}c",
        "\u{1b}[2J\u{1b}]0;x\u{7}",
        "quote\" back\\slash", "\u{0}\u{7f}", "\u{9b}31m", "\u{202e}txt.exe",
    ])
    func `a value from outside cannot forge a line or act on a terminal`(_ text: String)
        async throws
    {
        let file = try LogFile()
        file.log.write("test", at: 0) { $0.member("text", text) }
        let lines = try await file.lines()
        #expect(lines.count == 1)
        #expect(try JSONValue(parsing: Array(lines[0].utf8))["text"]?.string == text)
        #expect(
            lines[0].unicodeScalars.allSatisfy {
                ![.control, .lineSeparator, .paragraphSeparator].contains(
                    $0.properties.generalCategory)
            })
    }

    @Test func `a reader that has gone does not hold anything up`() async throws {
        let pipe = Pipe()
        signal(SIGPIPE, SIG_IGN)
        let log = EventLog(descriptor: pipe.fileHandleForWriting.fileDescriptor)
        try pipe.fileHandleForReading.close()
        log.write("test", at: 0) { _ in }
        await log.flush()
        #expect(!log.isStalled)
    }

    @Test func `a reader that stands still stalls the log, which then stays within its bound`()
        async throws
    {
        let pipe = Pipe()
        let log = EventLog(
            descriptor: pipe.fileHandleForWriting.fileDescriptor, capacity: 100_000)
        for _ in 0..<20_000 {
            log.write("test", at: 0) { $0.member("x", String(repeating: "x", count: 50)) }
        }
        #expect(log.isStalled)
        await log.flush(within: .milliseconds(1))
        // The reader goes on: what was kept comes, and how many were not.
        let reader = Task.detached {
            var text = Data()
            while true {
                let chunk = pipe.fileHandleForReading.availableData
                if chunk.isEmpty { return text }
                text += chunk
            }
        }
        await log.flush(within: .seconds(30))
        #expect(!log.isStalled)
        log.write("after", at: 0) { _ in }
        await log.flush(within: .seconds(30))
        try pipe.fileHandleForWriting.close()
        let events = try String(decoding: await reader.value, as: UTF8.self).split(separator: "\n")
            .map { try JSONValue(parsing: Array($0.utf8)) }
        let kept = events.count { $0["event"]?.string == "test" }
        let dropped = events.compactMap { $0["events"]?.integer }.reduce(0, +)
        #expect(events.last?["event"]?.string == "after")
        #expect(dropped > 0)
        #expect(Int64(kept) + dropped == 20_000)
    }

    @Test func `a full disk stalls the log instead of losing events`() async throws {
        // Never closed, since the log goes on trying.
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        let log = EventLog(descriptor: full, capacity: 1000)
        for _ in 0..<20 {
            log.write("test", at: 0) { $0.member("x", String(repeating: "x", count: 50)) }
        }
        await log.flush(within: .milliseconds(1))
        #expect(log.isStalled)
    }
}
