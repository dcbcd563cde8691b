import TestKit
import Testing

@testable import SocketServer

/// `slowhttptest` against a server with short deadlines, while a client that behaves is served all along.
@Suite struct SlowClientTests {
    /// Its options, and whether the tool itself can see that all of its connections were cut before its time was over: a slow
    /// reader first reads what the kernel holds for it.
    @Test(
        arguments: [
            ("slow headers", ["-H", "-i", "1", "-x", "24", "-u", "/hello"], true),
            ("slow body", ["-B", "-i", "1", "-s", "60", "-x", "4", "-u", "/echo"], true),
            (
                "slow read",
                [
                    "-X", "-w", "64", "-y", "128", "-n", "4", "-z", "16", "-k", "1", "-u",
                    "/big?8000000",
                ],
                false
            ),
            ("many ranges", ["-R", "-a", "5", "-b", "2000", "-u", "/hello"], false),
        ] as [(String, [String], Bool)])
    func `a slow client is cut at its deadline, and others do not notice`(
        name: String, options: [String], seesTheCut: Bool
    ) async throws {
        let server = try TestServer {
            $0.deadlines.head = .seconds(1)
            $0.deadlines.request = .seconds(2)
            $0.deadlines.write = .seconds(2)
            $0.deadlines.idle = .seconds(2)
            $0.deadlines.linger = .milliseconds(500)
        }
        let address = server.server.listening
        let words = options.map { $0.hasPrefix("/") ? "http://127.0.0.1:\(server.port)\($0)" : $0 }
        let attack = try RunningProcess(
            ["slowhttptest", "-c", "200", "-r", "200", "-l", "12", "-p", "10"] + words,
            environment: ["PATH": "/usr/bin:/bin", "TERM": "dumb"])
        let ended = Task { await attack.status() }
        let hasEnded = Locked(false)
        let watch = Task {
            _ = await ended.value
            hasEnded.withLock { $0 = true }
        }
        var served = 0
        var most = 0
        var wasCut = false
        while !hasEnded.withLock(\.self) {
            let statuses = try await offPool {
                let client = try RawClient(address)
                client.send(RawInput.second)
                return client.readAnswers(count: 1).map(\.status)
            }
            #expect(statuses == [200])
            served += 1
            most = max(most, server.server.openConnections)
            if most > 50, server.server.openConnections < 5 { wasCut = true }
        }
        await watch.value
        #expect(served > 0)
        let output = attack.lines.map(Self.plain)
        let toldOfIt = output.contains("Exit status: No open connections left")
        if seesTheCut { #expect(toldOfIt, "\(output)") }
        // Ranges are nothing to this server: it answers at once, and there is nothing to cut. A tool that ends with the cut may
        // be gone before this loop has looked again.
        if name != "many ranges" {
            #expect(wasCut || toldOfIt, "at most \(most) connections: \(output)")
        }
        #expect(
            output.filter { $0.hasPrefix("service available:") }
                .allSatisfy { $0.hasSuffix("YES") }, "\(output)")
        await server.untilEmpty()
        await server.stop()
    }

    /// A line without its colours.
    private static func plain(_ line: String) -> String {
        line.replacing(/\u{1b}\[[0-9;]*[A-Za-z]/, with: "")
    }
}
