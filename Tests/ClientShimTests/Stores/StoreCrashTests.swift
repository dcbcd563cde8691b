import Foundation
import Glibc
import TestKit
import Testing

@testable import ClientShim

/// A process of its own changes the stores; it is ended, held up or let down at each of its system calls on their directory, one
/// after the other, until a run meets no further one.
@Suite(.enabled(if: !Sanitizer.isPresent)) struct StoreCrashTests {
    static func text(_ version: Int) -> String { String(repeating: "v\(version).", count: 90) }

    static let steps = [
        "replace=session=\(text(1))", "replace=session=\(text(2))", "read=session",
        "replace=identity/a=\(text(3))", "lock=refresh", "generate=a", "generate=b", "delete=a",
        "remove=session", "remove=session", "replace=session=\(text(4))", "remove=identity/a",
    ]

    private let library: TemporaryDirectory
    private let calls: FileCalls

    init() async throws {
        library = try TemporaryDirectory()
        calls = try await FileCalls(in: library)
    }

    private func device() throws -> TemporaryDirectory {
        let device = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: device.file("disk"), withIntermediateDirectories: false)
        return device
    }

    private func start(
        on device: TemporaryDirectory, _ fault: FileCalls.Fault = .none, _ steps: [String] = steps
    ) throws -> RunningProcess {
        try calls.start(["store", FileCalls.disk(of: device)] + steps, on: device, fault)
    }

    /// The calls of a run that nothing disturbs.
    private func undisturbed(_ steps: [String] = steps) async throws -> [FileCall] {
        let device = try device()
        let status = await (try start(on: device, .none, steps)).status()
        try #require(status == 0)
        return try FileCalls.calls(on: device)
    }

    // Right after one call is right before the next, as far as the disk goes.
    @Test(arguments: [false, true])
    func
        `R-100-10 wherever the process is killed, each record and key is there whole, old or new, and what was acknowledged stays`(
            startsAmongLeavings: Bool
        ) async throws
    {
        var number = 0
        while true {
            number += 1
            let device = try device()
            if startsAmongLeavings { try leave(on: device) }
            let process = try start(on: device, .kill(number))
            let status = await process.status()
            let said = try FileCalls.calls(on: device).compactMap(\.said)
            #expect(
                StoreExpectation(said).complaints(about: device.file("disk")) == [],
                "killed before call \(number)")
            guard process.wasEndedBySignal else {
                #expect(status == 0)
                break
            }
        }
        #expect(number > 60)
    }

    /// What a process that ended may leave: sealed, cut, empty, and both names of a key.
    private func leave(on device: TemporaryDirectory) throws {
        for folder in ["records", "keys"] {
            let path = device.file("disk/" + folder)
            guard mkdir(path, 0o700) == 0 else { continue }
            for (name, bytes) in [("a", [UInt8](repeating: 1, count: 300)), ("b", [])] {
                try device.write(bytes, to: "disk/\(folder)/.tmp-\(name)")
            }
        }
    }

    @Test
    func
        `R-100-10 whenever the power fails, what was not synced may be lost, and still every record and key is whole and what was acknowledged there`()
        async throws
    {
        var model = DiskModel()
        var said: [String] = []
        var seen: [StoreExpectation: Set<[String: DiskModel.Entry]>] = [:]
        for call in try await undisturbed() {
            try model.apply(call)
            call.said.map { said.append($0) }
            seen[StoreExpectation(said), default: []].formUnion(model.afterPowerFailure())
        }
        #expect(seen.count > 20)
        for (expectation, states) in seen {
            for state in states { try expect(expectation, after: state) }
        }
    }

    @Test func `the model of the disk sees every call that changes it`() async throws {
        let device = try device()
        let status = await (try start(on: device)).status()
        try #require(status == 0)
        var model = DiskModel()
        for call in try FileCalls.calls(on: device) { try model.apply(call) }
        #expect(try Self.tree(device.file("disk")) == model.now)
    }

    private func expect(
        _ expectation: StoreExpectation, after state: [String: DiskModel.Entry]
    ) throws {
        let device = try device()
        for (path, entry) in state.sorted(by: { $0.key < $1.key }) {
            switch entry {
            case .folder: mkdir(device.file("disk/" + path), 0o700)
            case .file(let bytes): try device.write(bytes, to: "disk/" + path)
            }
        }
        #expect(
            expectation.complaints(about: device.file("disk")) == [],
            "\(expectation.begun.prefix(2)) \(state.keys.sorted())")
    }

    private static func tree(_ path: String) throws -> [String: DiskModel.Entry] {
        try FileManager.default.subpathsOfDirectory(atPath: path).reduce(into: [:]) { tree, name in
            let data = FileManager.default.contents(atPath: "\(path)/\(name)")
            tree[name] = data.map { .file(Array($0)) } ?? .folder
        }
    }

    static let shortSteps = [
        "replace=session=\(text(1))", "replace=session=\(text(2))", "read=session", "lock=refresh",
        "generate=a", "delete=a", "remove=session",
    ]

    /// The calls that a signal can interrupt.
    static let interruptible = ["open", "create", "ensure", "read", "write", "fsync", "flock"]
    static let needRoom = ["create", "ensure", "mkdir", "link", "rename", "write"]

    @Test(arguments: [EIO, ENOSPC, EINTR])
    func
        `R-100-10 whichever call fails, the old record stays, the error names the cause and no secret, and nothing is acknowledged that is not durable`(
            _ code: Int32
        ) async throws
    {
        var failures = 0
        for call in try await undisturbed(Self.shortSteps) where call.number > 0 {
            if code == ENOSPC, !Self.needRoom.contains(call.name) { continue }
            if code == EINTR, !Self.interruptible.contains(call.name) { continue }
            failures += try await fail(call, .fail(call.number, errno: code), code) ? 1 : 0
        }
        // An interrupted call is made again.
        #expect(code == EINTR ? failures == 0 : failures > 10)
    }

    @Test func `a write that takes half goes on with the rest`() async throws {
        for call in try await undisturbed(Self.shortSteps) where call.name == "write" {
            #expect(try await !fail(call, .short(call.number), 0))
        }
    }

    /// - Returns: whether the probe reported a failure.
    private func fail(_ call: FileCall, _ fault: FileCalls.Fault, _ code: Int32) async throws
        -> Bool
    {
        let device = try device()
        let status = await (try start(on: device, fault, Self.shortSteps)).status()
        let log = try FileCalls.calls(on: device)
        let said = log.compactMap(\.said)
        let failure = said.first { $0.hasPrefix("failed") }
        #expect(status == (failure == nil ? 0 : 3), "\(call)")
        if let failure {
            #expect(failure.contains("(errno \(code))"), "\(call)")
            #expect(!failure.contains("v1.") && !failure.contains("v2."))
        }
        var expectation = StoreExpectation(said)
        var model = DiskModel()
        for call in log { try model.apply(call) }
        for state in model.afterPowerFailure() { try expect(expectation, after: state) }
        // Only where the last step fails, which makes a change durable, is it there already; a new key is taken back.
        let isLast = failure?.contains("fsync of the directory") == true
        if !isLast || expectation.begun.first == "generate" {
            expectation = expectation.withoutBegun()
        }
        #expect(expectation.complaints(about: device.file("disk")) == [], "\(call) \(code)")
        return failure != nil
    }

    // Before the lock is taken the file looks like a leaving: the process that starts removes it, and its writer begins another.
    @Test(arguments: [("flock", false), ("rename", true), ("link", true)])
    func `a process that starts beside one that writes takes nothing away from it`(
        _ name: String, isKept: Bool
    ) async throws {
        let steps = [name == "link" ? "generate=a" : "replace=session=\(Self.text(1))"]
        let folder = name == "link" ? "keys" : "records"
        let call = try #require(try await undisturbed(steps).first { $0.name == name })
        let device = try device()
        try #require(mkfifo(device.file("gate"), 0o600) == 0)
        let process = try start(on: device, .hold(call.number), steps)
        _ = try await process.line { $0 == "held" }
        func temporary() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: device.file("disk/" + folder))
                .filter { $0.hasPrefix(".tmp-") }
        }
        #expect(try temporary().count == 1)
        let key = try MasterKey(bytes: StoreExpectation.masterKey)
        _ = try EncryptedFileSecureStore(directory: device.file("disk/" + folder), masterKey: key)
        #expect(try temporary().count == (isKept ? 1 : 0))
        let gate = open(device.file("gate"), O_WRONLY | O_CLOEXEC)
        try #require(gate >= 0 && write(gate, "g", 1) == 1)
        close(gate)
        #expect(await process.status() == 0)
        let said = try FileCalls.calls(on: device).compactMap(\.said)
        #expect(said.last?.hasPrefix("done") == true)
        #expect(StoreExpectation(said).complaints(about: device.file("disk")) == [])
    }
}
