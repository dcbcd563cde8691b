import Glibc
import Testing

@testable import SocketServer

@Suite struct InheritedSocketTests {
    /// A socket as a service manager hands it over: blocking, and open to other programs.
    private static func listening(
        on address: SocketAddress?, type: __socket_type = SOCK_STREAM, listens: Bool = true
    ) throws -> Int32 {
        let address = try #require(address)
        let descriptor = socket(address.family, Int32(type.rawValue), 0)
        try #require(descriptor >= 0)
        try #require(address.withPointer { bind(descriptor, $0, $1) } == 0)
        if listens { try #require(listen(descriptor, 128) == 0) }
        return descriptor
    }

    private static func server(
        on descriptor: Int32, tls: TLSConfiguration? = nil
    ) throws -> TestServer {
        try TestServer(on: .inherited(descriptor: descriptor), tls: tls)
    }

    @Test(arguments: ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
    func `an inherited socket is served and made fit for it`(_ text: String) async throws {
        let descriptor = try Self.listening(on: SocketAddress(text, port: 0))
        let server = try Self.server(on: descriptor)
        let address = try #require(RemoteAddress(text))
        #expect(server.server.listening == .tcp(address, port: server.port))
        #expect(server.port > 0)
        #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
        #expect(Self.option(TCP_NODELAY, level: Int32(IPPROTO_TCP), of: descriptor) == 1)
        let answers = try await server.answers(to: RawInput.second, count: 1)
        #expect(answers.map(\.status) == [200])
        await server.stop()
    }

    @Test func `an inherited Unix socket is served, and its file stays for the next process`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let path = try #require(UnixSocketPath(directory.file("a.sock")))
        let server = try Self.server(on: try Self.listening(on: SocketAddress(path)))
        #expect(server.server.listening == .unix(path: path.description))
        let answers = try await server.answers(to: RawInput.second, count: 1)
        #expect(answers.map(\.status) == [200])
        await server.stop()
        #expect(access(path.description, F_OK) == 0)
    }

    @Test func `who waits in the backlog when a server stops is served by the next one`()
        async throws
    {
        let descriptor = try Self.listening(on: SocketAddress("127.0.0.1", port: 0))
        let kept = dup(descriptor)
        defer { close(kept) }
        // Its accepting rests, so that the clients wait in the backlog.
        let first = try HTTPServer(
            HTTPServerConfiguration(.inherited(descriptor: descriptor)), lanes: [Lane(index: 0)],
            handler: TestHandler())
        let address = first.listening
        let clients = try await offPool {
            try (0..<20).map { _ in
                let client = try RawClient(address)
                client.send(RawInput.second)
                return Kept(client)
            }
        }
        await first.drain(grace: .zero)
        let second = try Self.server(on: dup(kept))
        let statuses = try await offPool {
            clients.map { $0.client.readAnswers(count: 1).map(\.status) }
        }
        #expect(statuses == Array(repeating: [200], count: 20))
        await second.stop()
    }

    @Test func `a socket that its owner shuts under us does not make the server spin`()
        async throws
    {
        let events = Locked<[ServerEvent]>([])
        let (paused, pause) = AsyncStream<Void>.makeStream()
        let descriptor = try Self.listening(on: SocketAddress("127.0.0.1", port: 0))
        let kept = dup(descriptor)
        defer { close(kept) }
        let server = try TestServer(on: .inherited(descriptor: descriptor)) {
            $0.observe = { event in
                events.withLock { $0.append(event) }
                pause.yield()
            }
        }
        shutdown(kept, Int32(SHUT_RD))
        for await _ in paused { break }
        #expect(events.withLock { $0 } == [.acceptPaused(reason: "Invalid argument")])
        await server.stop()
    }

    @Test func `whatever is no listening stream socket is refused by its fault, and stays open`()
        async throws
    {
        var pair: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        let loopback = SocketAddress("127.0.0.1", port: 0)
        let faults = [
            (try Self.listening(on: loopback, listens: false), "nothing listens on it"),
            (
                try Self.listening(on: loopback, type: SOCK_DGRAM, listens: false),
                "it is no stream socket"
            ),
            (pair[0], "nothing listens on it"),
            (open("/dev/null", O_RDONLY), "Socket operation on non-socket"),
            (pipeEnd(), "Socket operation on non-socket"),
        ]
        for (descriptor, fault) in faults {
            #expect(throws: ServerError.unusableDescriptor(descriptor, reason: fault)) {
                try Self.server(on: descriptor)
            }
            #expect(fcntl(descriptor, F_GETFD) >= 0)
            close(descriptor)
        }
        close(pair[1])
        for descriptor in [-1, 1_000_000] as [Int32] {
            #expect(
                throws: ServerError.unusableDescriptor(descriptor, reason: "Bad file descriptor")
            ) { try Self.server(on: descriptor) }
        }
    }

    @Test(arguments: ["0.0.0.0", "::"])
    func `plain HTTP is refused on a socket that others can reach, and TLS is not`(_ text: String)
        async throws
    {
        let descriptor = try Self.listening(on: SocketAddress(text, port: 0))
        let error = #expect(throws: ServerError.self) { try Self.server(on: descriptor) }
        guard case .plainHTTPOffLoopback = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        let identity = try await TestIdentity()
        let server = try Self.server(on: descriptor, tls: identity.configuration)
        await server.stop()
    }

    private func pipeEnd() -> Int32 {
        var ends: [Int32] = [0, 0]
        _ = pipe(&ends)
        close(ends[1])
        return ends[0]
    }

    private static func option(_ name: Int32, level: Int32, of descriptor: Int32) -> Int32 {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout.size(ofValue: value))
        getsockopt(descriptor, level, name, &value, &size)
        return value
    }
}
