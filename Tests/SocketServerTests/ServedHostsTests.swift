import Testing

@testable import SocketServer

@Suite struct ServedHostsTests {
    private static let names = ["Broker.Example", "[2001:db8::1]", "localhost"]

    @Test(arguments: [
        ("broker.example", true), ("BROKER.example:443", true), ("broker.example:", true),
        ("localhost:8080", true), ("[2001:db8::1]", true), ("[2001:DB8:0::1]:8443", true),
        ("other.example", false), ("broker.example.", false), ("a.broker.example", false),
        ("broker.example.evil.example", false), ("broker", false), ("xbroker.example", false),
        ("[2001:db8::2]", false), ("127.0.0.1", false), ("[::1]", false),
    ])
    func `names are served in any letter case and with any port, and no other host`(
        host: String, isServed: Bool
    ) async throws {
        let answers = try await answers(to: "GET /hello HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        #expect(answers == [isServed ? 200 : 421])
    }

    @Test(arguments: [
        ("127.0.0.1:80", true), ("192.0.2.7", true), ("[::1]:80", true), ("[2001:db8::9]", true),
        // What some resolvers take for an address is a name to us.
        ("127.1", false), ("0x7f.0.0.1", false), ("2130706433", false), ("127.0.0.1.", false),
        ("127.0.0.1.evil.example", false),
    ])
    func `every address is served when addresses are`(host: String, isServed: Bool) async throws {
        let answers = try await answers(
            to: "GET /hello HTTP/1.1\r\nHost: \(host)\r\n\r\n", includesAddresses: true)
        #expect(answers == [isServed ? 200 : 421])
    }

    @Test(
        arguments: [
            ("GET http://other.example/hello HTTP/1.1\r\nHost: broker.example\r\n\r\n", [421]),
            ("GET http://broker.example/hello HTTP/1.1\r\nHost: other.example\r\n\r\n", [200]),
            ("GET /hello HTTP/1.0\r\nHost: other.example\r\n\r\n", [421]),
            ("GET /hello HTTP/1.0\r\nHost: broker.example\r\n\r\n", [200]),
            ("GET /hello HTTP/1.0\r\n\r\n", [200]),
            ("OPTIONS * HTTP/1.1\r\nHost: other.example\r\n\r\n", [421]),
        ] as [(String, [Int])])
    func `an absolute-form target counts more than Host`(request: String, statuses: [Int])
        async throws
    {
        #expect(try await answers(to: request) == statuses)
    }

    @Test func `after a misdirected request nothing runs`() async throws {
        let server = try server(includesAddresses: true)
        let answers = try await server.answers(
            to: "POST /echo HTTP/1.1\r\nHost: other.example\r\nContent-Length: 2\r\n\r\nab"
                + "GET /hello HTTP/1.1\r\nHost: broker.example\r\n\r\n")
        #expect(answers.map(\.status) == [421])
        #expect(answers.last?.wasLast == true)
        #expect(server.handler.handled.isEmpty)
        await server.stop()
    }

    @Test(arguments: [
        "", "a b", "a:80", "[::1]:80", "::1", "[::1", "a/b", "u@a", "a,b", "*.example", "[1.2.3.4]",
        "h\u{f6}st",
    ])
    func `what is no host cannot be served`(_ name: String) {
        #expect(!ServedHosts.isHost(name))
        #expect(ServedHosts(names: ["a", name], includesAddresses: false) == nil)
    }

    private func server(includesAddresses: Bool) throws -> TestServer {
        let hosts = try #require(
            ServedHosts(names: Self.names, includesAddresses: includesAddresses))
        return try TestServer(lanes: 1) { $0.limits.hosts = hosts }
    }

    private func answers(to request: String, includesAddresses: Bool = false) async throws -> [Int]
    {
        let server = try server(includesAddresses: includesAddresses)
        let answers = try await server.answers(to: request, count: 1)
        await server.stop()
        return answers.map(\.status)
    }
}
