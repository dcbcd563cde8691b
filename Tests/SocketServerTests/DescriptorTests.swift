import Foundation
import Glibc
import TestKit
import Testing

@testable import SocketServer

/// Each test runs in a process of its own, since it counts or limits the descriptors of the whole process.
@Suite struct DescriptorTests {
    @Test func `no descriptor and no memory is left over after thousands of connections`()
        async
    {
        await #expect(processExitsWith: .success) {
            let server = try TestServer {
                $0.deadlines.head = .milliseconds(500)
                $0.deadlines.request = .milliseconds(500)
            }
            let port = server.port
            try await Self.settle(server)
            let before = try Self.openDescriptors()
            try await Self.storms(port, seed: 0)
            try await Self.settle(server)
            // Threads that come late bring memory with them, so one storm may need more than the one before. What is lost with a
            // connection is lost in every storm: 320 octets for each of the 3200. A sanitizer keeps freed memory for itself.
            var growth: [Int] = []
            while growth.count < 6, !Sanitizer.isPresent, growth.last.map({ $0 >= 1024 }) ?? true {
                let resident = try Self.residentKilobytes()
                try await Self.storms(port, seed: UInt64(8 * (growth.count + 1)))
                try await Self.settle(server)
                growth.append(try Self.residentKilobytes() - resident)
            }
            let hasSettled = Sanitizer.isPresent || (growth.last ?? 0) < 1024
            #expect(hasSettled, "kB a storm: \(growth)")
            #expect(try Self.openDescriptors() == before)
            let answers = try await server.answers(to: RawInput.second, count: 1)
            #expect(answers.map(\.body) == ["hello"])
            await server.stop()
        }
    }

    @Test
    func `without descriptors accepting rests, burns no processor time, and goes on by itself`()
        async
    {
        await #expect(processExitsWith: .success) {
            let events = Locked<[ServerEvent]>([])
            let server = try TestServer {
                $0.deadlines.head = .seconds(60)
                $0.observe = { event in events.withLock { $0.append(event) } }
            }
            _ = try await server.answers(to: RawInput.second, count: 1)
            await server.untilEmpty()
            // Clients of another process, so that only the server runs short.
            let clients = try Command("python3", ["-c", Self.crowd, "\(server.port)"])
            let used = try Self.openDescriptors()
            var limit = rlimit(rlim_cur: rlim_t(used + 40), rlim_max: rlim_t(used + 40))
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            clients.write("open\n")
            #expect(clients.readLine() == "opened 100, hungry for 1 s")
            // The client measured nothing but time: how much of it did we burn?
            let burnt = Self.processorSeconds()
            clients.write("rest\n")
            #expect(clients.readLine() == "rested 2 s")
            #expect(Self.processorSeconds() - burnt < 0.5)
            let seen = events.withLock { $0 }
            // One every five seconds at most, however slow the machine is.
            #expect((1...4).contains(seen.count))
            #expect(seen.allSatisfy { $0 == .acceptPaused(reason: "Too many open files") })
            clients.write("close half\n")
            #expect(clients.readLine() == "answered 50")
            #expect(clients.finish().status == 0)
            await server.untilEmpty()
            await server.stop()
        }
    }

    @Test func `connections leave descriptors to the rest of the process, and the others wait`()
        async
    {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 200, rlim_max: 200)
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            let events = Locked<[ServerEvent]>([])
            let server = try TestServer {
                $0.sparedDescriptors = 120
                $0.observe = { event in events.withLock { $0.append(event) } }
            }
            let clients = try Command("python3", ["-c", Self.crowd, "\(server.port)"])
            // Half of them, since what is spared would leave only 80.
            clients.write("open\n")
            #expect(clients.readLine() == "opened 100, hungry for 1 s")
            while server.server.openConnections < 100 { await Task.yield() }
            let more = try await offPool { [port = server.port] in Kept(try RawClient(port: port)) }
            while events.withLock(\.isEmpty) { await Task.yield() }
            #expect(server.server.openConnections == 100)
            // Waiting in the backlog it costs nothing, and files can still be opened.
            let files = (0..<40).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
            #expect(files.allSatisfy { $0 >= 0 })
            for file in files { close(file) }
            more.client.send(RawInput.second)
            clients.write("rest\n")
            #expect(clients.readLine() == "rested 2 s")
            clients.write("close half\n")
            #expect(clients.readLine() == "answered 50")
            let answers = try await offPool { more.client.readAnswers(count: 1) }
            #expect(answers.map(\.body) == ["hello"])
            #expect(clients.finish().status == 0)
            await server.stop()
        }
    }

    @Test(arguments: [(200, 0, Int.max), (200, 50, 150), (200, 150, 100), (200, 1000, 100)])
    func `at least half of the descriptors are for connections`(
        limit: Int, spared: Int, connections: Int
    ) async {
        await #expect(processExitsWith: .success) { [limit, spared, connections] in
            var most = rlimit(rlim_cur: rlim_t(limit - 1), rlim_max: rlim_t(limit))
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &most) == 0)
            DescriptorLimit.raise()
            #expect(DescriptorLimit.connections(sparing: spared) == connections)
        }
    }

    private static func storms(_ port: UInt16, seed: UInt64) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seed in seed..<(seed + 8) {
                group.addTask { try await offPool { try Self.storm(port, seed: seed) } }
            }
            try await group.waitForAll()
        }
    }

    /// Waits until every connection is gone. Some may not even be accepted when their clients are done with them, but they are
    /// when a later one is answered: the backlog keeps their order.
    private static func settle(_ server: TestServer) async throws {
        _ = try await server.answers(to: RawInput.second, count: 1)
        await server.untilEmpty()
    }

    static func residentKilobytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try #require(Int(line.dropFirst(6).filter(\.isNumber)))
    }

    /// Connections that end by reset, by the client, by the server, or by a deadline in the middle of a request.
    private static func storm(_ port: UInt16, seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<400 {
            let client = try RawClient(port: port)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: client.send(RawInput.second)
            case 1:
                client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
                client.reset()
            case 2: client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Le")
            case 3:
                client.send("GET /close HTTP/1.1\r\nHost: a\r\n\r\n")
                guard client.readAnswers().map(\.body) == ["bye"] else {
                    throw ClientError(text: "wrong answer")
                }
            case 4: client.send("GET / HTTP/1.1\nx")
            default:
                client.send(
                    RawInput.second
                        + "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
                guard client.readAnswers(count: 2).map(\.body) == ["hello", "abc"] else {
                    throw ClientError(text: "wrong answers")
                }
                client.reset()
            }
        }
    }

    private static func openDescriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }

    private static func processorSeconds() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }

    private static let crowd = """
        import socket, sys, time
        request = b"GET /hello HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n"
        sys.stdin.readline()
        crowd = [socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=20) for _ in range(100)]
        time.sleep(1)
        print("opened 100, hungry for 1 s", flush=True)
        sys.stdin.readline()
        time.sleep(2)
        print("rested 2 s", flush=True)
        sys.stdin.readline()
        for client in crowd[:50]: client.close()
        answered = 0
        for client in crowd[50:]:
            client.sendall(request)
            answered += client.recv(65536).endswith(b"hello")
            client.close()
        print("answered", answered, flush=True)
        """
}
