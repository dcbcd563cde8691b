import Glibc
import Testing

@testable import SocketServer

@Suite struct UnixSocketTests {
    private let directory: TemporaryDirectory
    private let path: UnixSocketPath

    init() throws {
        directory = try TemporaryDirectory()
        path = try #require(UnixSocketPath(directory.file("http.sock")))
    }

    private func start(
        mode: FileMode = .ownerAndGroup,
        configure: (inout HTTPServerConfiguration) -> Void = { _ in }
    ) throws -> TestServer {
        try TestServer(on: .unix(path, mode: mode), configure: configure)
    }

    @Test func `requests are answered over a Unix socket, and the peer has no address`()
        async throws
    {
        let server = try start()
        #expect(server.server.listening == .unix(path: path.description))
        #expect(server.server.port == 0)
        let answers = try await server.answers(
            to: RawInput.second + "GET /describe HTTP/1.1\r\nHost: a\r\n\r\n", count: 2)
        #expect(answers.map(\.status) == [200, 200])
        #expect(answers.last?.body.split(separator: "\n")[4] == "unix")
        await server.stop()
    }

    @Test(arguments: ["600", "0660", "0666", "777"])
    func `the file has its mode whatever the umask`(_ text: String) async throws {
        let mode = try #require(FileMode(octal: text))
        let server = try start(mode: mode)
        #expect(try status().st_mode == S_IFSOCK | mode.bits)
        await server.stop()
    }

    @Test func `the file is gone after a drain, and when a server was never started`() async throws
    {
        await (try start()).stop()
        #expect(access(path.description, F_OK) != 0)
        var unstarted: HTTPServer? = try HTTPServer(
            HTTPServerConfiguration(.unix(path, mode: .ownerAndGroup)), lanes: [Lane(index: 0)],
            handler: TestHandler())
        #expect(access(path.description, F_OK) == 0)
        await unstarted?.drain(grace: .zero)
        unstarted = nil
        #expect(access(path.description, F_OK) != 0)
    }

    @Test func `the file of a dead server is replaced`() async throws {
        try leaveDeadSocket()
        let server = try start()
        let answers = try await server.answers(to: RawInput.second, count: 1)
        #expect(answers.map(\.status) == [200])
        await server.stop()
    }

    @Test func `the file of a living server is refused, and that server goes on`() async throws {
        let server = try start()
        #expect(
            throws: ServerError.cannotListenOnFile(
                path: path.description, reason: "another process listens on it")
        ) { try start() }
        let answers = try await server.answers(to: RawInput.second, count: 1)
        #expect(answers.map(\.status) == [200])
        await server.stop()
    }

    @Test(arguments: ["a file", "a directory", "a link to a file", "a dangling link", "a pipe"])
    func `any other kind of file is refused and left alone`(_ kind: String) throws {
        switch kind {
        case "a file": close(creat(path.description, 0o600))
        case "a directory": mkdir(path.description, 0o700)
        case "a pipe": mkfifo(path.description, 0o600)
        default: symlink(kind == "a link to a file" ? "/etc/passwd" : "nowhere", path.description)
        }
        let before = try status()
        #expect(
            throws: ServerError.cannotListenOnFile(
                path: path.description,
                reason: "a file that is no socket is there; remove it or choose another path")
        ) { try start() }
        #expect(try status().st_ino == before.st_ino)
    }

    @Test func `a socket of another type that is in use is refused`() throws {
        let other = try bound(type: SOCK_DGRAM)
        defer { close(other) }
        let error = #expect(throws: ServerError.self) { try start() }
        #expect(
            error?.description
                == "cannot listen on \(path): what is there cannot be tried: Protocol wrong type for socket"
        )
        #expect(access(path.description, F_OK) == 0)
    }

    @Test func `a missing directory is named with its reason`() throws {
        let missing = try #require(UnixSocketPath(directory.file("no/http.sock")))
        let error = #expect(throws: ServerError.self) {
            try TestServer(on: .unix(missing, mode: .ownerAndGroup))
        }
        #expect(
            error?.description == "cannot listen on \(missing): No such file or directory")
    }

    @Test func `of many servers that start on one dead file exactly one gets it`() async throws {
        for _ in 0..<10 {
            try leaveDeadSocket()
            let servers = await withTaskGroup(of: TestServer?.self) { group in
                for _ in 0..<8 {
                    group.addTask { try? await offPool { try start() } }
                }
                return await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
            }
            #expect(servers.count == 1)
            let answers = try await servers[0].answers(to: RawInput.second, count: 1)
            #expect(answers.map(\.status) == [200])
            await servers[0].stop()
        }
    }

    @Test func `a file that took the place of ours is not removed`() async throws {
        let server = try start()
        unlink(path.description)
        close(creat(path.description, 0o600))
        await server.stop()
        #expect(access(path.description, F_OK) == 0)
    }

    @Test func `who waits in the backlog when the server stops is still served`() async throws {
        let server = try start()
        let address = server.server.listening
        let clients = try await offPool {
            try (0..<200).map { _ in
                let client = try RawClient(address)
                client.send(RawInput.second)
                return Kept(client)
            }
        }
        let drained = Task { await server.server.drain(grace: .seconds(60)) }
        let statuses = try await offPool {
            clients.map { client in
                defer { client.client.endInput() }
                return client.client.readAnswers().map(\.status)
            }
        }
        #expect(statuses == Array(repeating: [200], count: 200))
        await drained.value
    }

    @Test(arguments: ["", "run/a", "/run/", "/a\0b", "/" + String(repeating: "a", count: 107)])
    func `a path that no socket can have is refused`(_ text: String) {
        #expect(UnixSocketPath(text) == nil)
    }

    @Test func `the longest path can be bound and connected to`() async throws {
        let filler = String(repeating: "a", count: 107 - directory.path.utf8.count - 1)
        let longest = try #require(UnixSocketPath(directory.file(filler)))
        let server = try TestServer(on: .unix(longest, mode: .ownerAndGroup))
        let answers = try await server.answers(to: RawInput.second, count: 1)
        #expect(answers.map(\.status) == [200])
        await server.stop()
        #expect(access(longest.description, F_OK) != 0)
    }

    @Test(arguments: ["", "66", "0o660", "4755", "1777", "00660", "rw-", "-660", "0 60", "888"])
    func `a mode that is no mode is refused`(_ text: String) {
        #expect(FileMode(octal: text) == nil)
    }

    @Test func `TLS works over a Unix socket too`() async throws {
        let identity = try await TestIdentity()
        let server = try TestServer(
            on: .unix(path, mode: .ownerAndGroup), tls: identity.configuration)
        let result = try await Command.run(
            "curl",
            [
                "-sS", "--cacert", identity.certificate, "--unix-socket", path.description,
                "https://127.0.0.1/hello",
            ])
        #expect(result.output == "hello", "\(result.errors)")
        await server.stop()
    }

    private func status() throws -> stat {
        var status = stat()
        try #require(lstat(path.description, &status) == 0)
        return status
    }

    /// A bound socket whose process is gone.
    private func leaveDeadSocket() throws { close(try bound(type: SOCK_STREAM)) }

    private func bound(type: __socket_type) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(type.rawValue), 0)
        try #require(SocketAddress(path).withPointer { bind(descriptor, $0, $1) } == 0)
        if type == SOCK_STREAM { try #require(listen(descriptor, 1) == 0) }
        return descriptor
    }
}
