import Glibc
import TestKit
import Testing

@testable import SocketServer

/// What idle connections cost. Prints the measure; `bench/README.md` tells of it.
@Suite struct IdleConnectionTests {
    @Test
    func `ten thousand idle connections cost little memory, and others are served beside them`()
        async
    {
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) {
            var limit = rlimit()
            let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            getrlimit(descriptors, &limit)
            limit.rlim_cur = limit.rlim_max
            setrlimit(descriptors, &limit)
            let count = min(10_000, Int(clamping: limit.rlim_cur) - 500)
            let server = try TestServer { $0.maximumConnectionsPerAddress = 20_000 }
            for _ in 0..<100 { _ = try await server.answers(to: RawInput.second, count: 1) }
            await server.untilEmpty()
            let before = try DescriptorTests.residentKilobytes()
            let clients = try Command("python3", ["-c", Self.crowd, "\(server.port)", "\(count)"])
            #expect(clients.readLine() == "\(count) idle")
            let resident = try DescriptorTests.residentKilobytes() - before
            print("\(count) idle connections: \(resident * 1024 / count) octets each, resident")
            #expect(server.server.openConnections == count)
            if !Sanitizer.isPresent { #expect(resident * 1024 / count < 4096) }
            for _ in 0..<1000 {
                let answers = try await server.answers(to: RawInput.second, count: 1)
                #expect(answers.map(\.status) == [200])
            }
            clients.write("ask\n")
            #expect(clients.readLine() == "\(count) answered again")
            #expect(clients.finish().status == 0)
            await server.untilEmpty()
            await server.stop()
        }
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        let lines = output.split(separator: "\n").map { String($0) }
        print(lines.first { $0.contains("octets each") } ?? "no measure")
    }

    private static let crowd = """
        import resource, socket, sys
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        request = b"GET /hello HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n"
        crowd = []
        def ask(client):
            client.sendall(request)
            return client.recv(65536).endswith(b"hello")
        for turn in range(int(sys.argv[2])):
            client = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=60)
            assert ask(client)
            crowd.append(client)
        print(len(crowd), "idle", flush=True)
        sys.stdin.readline()
        print(sum(ask(client) for client in crowd), "answered again", flush=True)
        """
}
