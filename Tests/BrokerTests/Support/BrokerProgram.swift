import Foundation
import JOSE
import TestKit
import Testing

/// The `broker` program as a process of its own.
enum BrokerProgram {
    static let path = beside("broker")

    /// A program that was built beside the tests.
    static func beside(_ name: String) -> String {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent(name).path
    }

    /// The environment the tests were started with, without a database.
    static let environment = ProcessInfo.processInfo.environment.filter { $0.key != "DATABASE_URL" }

    /// The same for a program under limits that the address sanitizer's search for leaks needs to pass: it opens files when
    /// the program ends, and stops threads as a debugger does. Everything else it finds, it still finds.
    static let environmentUnderLimits = environment.merging(
        ["ASAN_OPTIONS": "detect_leaks=0"]
    ) { given, ours in "\(given):\(ours)" }

    /// Runs a command to its end.
    static func run(_ arguments: String...) async throws -> ProcessResult {
        try await runProcess(["env", "-u", "DATABASE_URL", path] + arguments)
    }

    /// Starts `broker serve`.
    static func serve(_ configurationPath: String) throws -> RunningProcess {
        try RunningProcess(
            [path, "serve", "--config", configurationPath], environment: environment)
    }
}

/// A `broker serve` that listens.
struct ServingBroker: Sendable {
    let process: RunningProcess
    let port: UInt16

    init(_ configurationPath: String) async throws {
        try await self.init(try BrokerProgram.serve(configurationPath))
    }

    /// - Parameter process: a `broker serve` that was just started.
    init(_ process: RunningProcess) async throws {
        self.process = process
        let line = try await process.line { $0.contains("\"broker.started\"") }
        let event = try JSONValue(parsing: Array(line.utf8))
        port = try #require(event["port"]?.integer.flatMap { UInt16(exactly: $0) })
    }

    func send(_ call: MintCall) async throws -> WireResponse {
        let connection = try WireConnection(port: port)
        try await connection.send(call.octets)
        return try await connection.response()
    }

    func get(_ path: String, until isWanted: (WireResponse) -> Bool = { _ in true }) async throws
        -> WireResponse
    {
        while true {
            let connection = try WireConnection(port: port)
            try await connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let response = try await connection.response()
            if isWanted(response) { return response }
            await Task.yield()
        }
    }

    /// Asks again until the answer is as wanted; each answer is an event of the broker's.
    func mint(_ call: MintCall, until isWanted: (WireResponse) -> Bool) async throws -> WireResponse
    {
        while true {
            let response = try await send(call)
            if isWanted(response) { return response }
            await Task.yield()
        }
    }

    /// SIGTERM, and the exit status. Another than 0 is recorded with what the broker wrote, such as a sanitizer's report.
    func stop() async -> Int32 {
        process.signal(SIGTERM)
        let status = await process.status()
        if status != 0 {
            let errors = (try? process.errorText()) ?? "nothing that can be read"
            Issue.record("the broker ended with \(status) and wrote: \(errors)")
        }
        return status
    }
}
