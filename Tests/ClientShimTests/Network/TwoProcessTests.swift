import Foundation
import TestKit
import Testing

@testable import ClientShim

/// Two processes of one app that share its stores, against a provider and an API over TLS.
@Suite struct TwoProcessTests {
    /// A process that was signed in by another one.
    private final class App {
        let process: RunningProcess
        private let gates: [Gate]

        /// - Parameter steps: as `SessionScript` takes them; before each it waits for `go`.
        init(_ world: TLSWorld, _ steps: String...) async throws {
            let gates = try steps.map { _ in try Gate() }
            self.gates = gates
            process = try RunningProcess(
                [
                    FileCalls.program, "session", world.device.path,
                    try await Wire.authority.value.caFile,
                ] + zip(gates, steps).flatMap { ["await=\($0.path)", $1] },
                environment: ProcessInfo.processInfo.environment)
        }

        /// Lets the next step begin.
        func go(_ number: Int = 0) async throws {
            _ = try await process.lines(number + 1) { $0 == "awaits" }
            gates[number].open()
        }

        /// What the step that was let go came to.
        func outcome(_ number: Int = 0) async throws -> String {
            try await process.lines(number + 1) {
                $0.hasPrefix("answer") || $0.hasPrefix("no answer") || $0 == "signed out"
            }[number]
        }

        var diagnostics: [String] { process.lines.filter { $0.hasPrefix("diagnostic") } }
    }

    /// A pipe with a name, which one process waits at.
    private final class Gate {
        private let directory: TemporaryDirectory
        private let end: Int32
        let path: String

        init() throws {
            directory = try TemporaryDirectory()
            path = directory.file("gate")
            guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.EIO) }
            // Both ends, so that nobody waits for the other to open his.
            end = Glibc.open(path, O_RDWR | O_CLOEXEC)
        }

        deinit { close(end) }

        func open() { _ = write(end, [1], 1) }
    }

    @Test(arguments: 0..<3)
    func `R-000-52 two processes with an expired token refresh once, and both calls succeed`(
        _ round: Int
    ) async throws {
        let world = try await TLSWorld()
        try world.expire(inSeconds: -10)
        world.provider.hold("/token", round == 1 ? .onTheWayBack : .atTheDoor)
        let apps = [
            try await App(world, "call=\(world.api.url)"),
            try await App(world, "call=\(world.api.url)"),
        ]
        if round == 2 {
            for app in apps { try await app.go() }
        } else {
            // One is refreshing for certain when the other comes.
            try await apps[0].go()
            await world.provider.held.wait()
            try await apps[1].go()
        }
        for app in apps { _ = try await app.process.line { $0 == "calls" } }
        await world.provider.held.wait()
        world.provider.letGo()
        for app in apps {
            let outcome = try await app.outcome()
            #expect(outcome == "answer 200, session", "\(app.process.lines)")
        }
        for app in apps { #expect(await app.process.status() == 0) }
        #expect(world.provider.refreshes.count == 1)
        #expect(world.provider.liveGrants == 1)
        await world.stop()
    }

    @Test
    func
        `R-000-52 R-000-57 one killed before its refresh arrives: the other refreshes and says so`()
        async throws
    {
        let world = try await TLSWorld()
        try world.expire(inSeconds: -10)
        let first = try await App(world, "call=\(world.api.url)")
        let second = try await App(world, "call=\(world.api.url)")
        world.provider.hold("/token", .atTheDoor)
        try await first.go()
        await world.provider.held.wait()
        try await second.go()
        _ = try await second.process.line { $0 == "calls" }
        first.process.signal(SIGKILL)
        #expect(await first.process.status() == SIGKILL)
        // The request of the dead stays at the door for good; its lock went with it.
        #expect(try await second.outcome() == "answer 200, session")
        #expect(second.diagnostics.contains { $0.hasSuffix("refreshInterrupted") })
        let refreshes = world.provider.refreshes
        #expect(refreshes.count == 1)
        #expect(world.provider.liveGrants == 1)
        #expect(try world.environment.store.read("refresh-journal") == nil)
        await world.stop()
    }

    @Test(arguments: [false, true])
    func
        `R-000-54 R-000-57 one killed before its answer arrives: a provider that rotates ends the session, another does not`(
            _ rotates: Bool
        ) async throws
    {
        let world = try await TLSWorld(rotates: rotates)
        try world.expire(inSeconds: -10)
        let first = try await App(world, "call=\(world.api.url)")
        let second = try await App(world, "call=\(world.api.url)", "call=\(world.api.url)")
        world.provider.hold("/token", .onTheWayBack)
        try await first.go()
        await world.provider.held.wait()
        first.process.signal(SIGKILL)
        #expect(await first.process.status() == SIGKILL)
        try await second.go()
        #expect(
            try await second.outcome()
                == (rotates ? "answer 401, no session" : "answer 200, session"))
        #expect(second.diagnostics.contains { $0.hasSuffix("refreshInterrupted") })
        // Nothing is presented a third time.
        try await second.go(1)
        #expect(
            try await second.outcome(1)
                == (rotates ? "answer 401, no session" : "answer 200, session"))
        #expect(world.provider.refreshes.count == 2)
        #expect(world.provider.liveGrants == (rotates ? 0 : 1))
        #expect(try (world.record == nil) == rotates)
        await world.stop()
    }

    @Test
    func
        `R-000-58 a sign-out in one process ends the session of the other, whose call is on its way`()
        async throws
    {
        let world = try await TLSWorld()
        let first = try await App(
            world, "call=\(world.api.url)", "call=\(world.api.url)", "call=\(world.api.url)")
        let second = try await App(world, "sign-out")
        try await first.go()
        #expect(try await first.outcome() == "answer 200, session")
        let (stream, gate) = AsyncStream.makeStream(of: Void.self)
        world.api.answerFirst { _ in
            for await _ in stream {}
            return nil
        }
        let count = world.api.requests.all.count
        try await first.go(1)
        await world.api.requests.wait(for: count + 1)
        try await second.go()
        #expect(try await second.outcome() == "signed out")
        gate.finish()
        #expect(try await first.outcome(1) == "answer 401, no session")
        #expect(world.provider.refreshes.isEmpty)
        try await first.go(2)
        #expect(try await first.outcome(2) == "answer 401, no session")
        #expect(world.api.requests.all.last?.all("authorization") == [])
        #expect(world.provider.liveGrants == 0)
        await world.stop()
    }

    @Test func `R-000-58 a sign-out during the other's refresh is not undone by its answer`()
        async throws
    {
        let world = try await TLSWorld()
        try world.expire(inSeconds: -10)
        let first = try await App(world, "call=\(world.api.url)")
        let second = try await App(world, "sign-out")
        world.provider.hold("/token", .onTheWayBack)
        try await first.go()
        await world.provider.held.wait()
        try await second.go()
        #expect(try await second.outcome() == "signed out")
        world.provider.letGo()
        #expect(try await first.outcome() == "answer 401, no session")
        #expect(world.provider.liveGrants == 0)
        #expect(try world.record == nil)
        await world.stop()
    }
}
