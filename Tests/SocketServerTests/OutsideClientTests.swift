import TestKit
import Testing

@testable import SocketServer

/// Clients that others wrote, against a running server. `script/setup --tests` installs them.
@Suite struct OutsideClientTests {
    /// curl's arguments, the path last; and what it prints.
    @Test(
        arguments: [
            (["-w", " %{http_code}", "/hello"], "hello 200"),
            (["--http1.0", "-w", " %{http_code}", "/hello"], "hello 200"),
            // The second request finds its connection open.
            (["-w", " %{num_connects};", "/hello", "/hello"], "hello 1;hello 0;"),
            (["-d", "abc", "/echo"], "abc"),
            (["-d", "abc", "-H", "Transfer-Encoding: chunked", "/echo"], "abc"),
            (
                ["-d", "abc", "-H", "Expect: 100-continue", "-w", " %{http_code}", "/echo"],
                "abc 200"
            ),
            (
                [
                    "-d", "@/proc/self/cmdline", "-H", "Expect: 200-ok", "-w", " %{http_code}",
                    "/echo",
                ],
                "expectationFailed 417"
            ),
            (
                ["-I", "-o", "/dev/null", "-w", "%{http_code} %header{content-length}", "/hello"],
                "200 5"
            ),
            (["-X", "HEAD", "-I", "-o", "/dev/null", "-w", "%{http_code}", "/nowhere"], "404"),
            (["-w", "%{http_code}", "/empty"], "204"),
            (["--http2", "-w", " %{http_code} %{http_version}", "/hello"], "hello 200 1.1"),
            (["--path-as-is", "-w", " %{http_code}", "/a/../hello"], "malformedTarget 400"),
            (["-X", "BREW", "-w", " %{http_code}", "/hello"], "methodNotImplemented 501"),
            (["-H", "Host:", "-w", " %{http_code}", "/hello"], "malformedHost 400"),
            (
                [
                    "-H", "Content-Length: 5", "-H", "Transfer-Encoding: chunked", "-d", "abc",
                    "-w",
                    " %{http_code}", "/echo",
                ], "ambiguousFraming 400"
            ),
            (
                ["-w", " %{http_code} %{num_connects};", "/close", "/hello"],
                "bye 200 1;hello 200 1;"
            ),
        ] as [([String], String)])
    func `curl gets what it asks for`(arguments: [String], output: String) async throws {
        let server = try TestServer()
        let words = arguments.map { word in
            word.hasPrefix("/") && word != "/dev/null"
                ? "http://127.0.0.1:\(server.port)\(word)" : word
        }
        let result = try await runProcess(["curl", "-sS"] + words)
        #expect(result.outputText == output, "\(result.errorText)")
        await server.stop()
    }

    @Test func `curl gets the refusal of a body that is too large while it still sends`()
        async throws
    {
        let server = try TestServer()
        let result = try await runProcess(
            [
                "curl", "-sS", "--data-binary", "@-", "-w", " %{http_code}",
                "http://127.0.0.1:\(server.port)/echo",
            ], input: Array(repeating: 0x61, count: 8_000_000))
        #expect(result.outputText == "bodyTooLarge 413", "\(result.errorText)")
        await server.stop()
    }

    @Test(arguments: [false, true])
    func `h2load loads it over HTTP/1.1, eight requests in flight on a connection`(tls: Bool)
        async throws
    {
        let identity = try await TestIdentity()
        let server = try TestServer(tls: tls ? identity.configuration : nil)
        let result = try await runProcess([
            "h2load", "--h1", "-n", "4000", "-c", "20", "-m", "8",
            "\(tls ? "https" : "http")://127.0.0.1:\(server.port)/hello",
        ])
        #expect(
            result.outputText.contains("4000 succeeded, 0 failed, 0 errored, 0 timeout"),
            "\(result.outputText)")
        #expect(result.outputText.contains("status codes: 4000 2xx, 0 3xx, 0 4xx, 0 5xx"))
        await server.stop()
    }

    @Test func `wrk loads it, and every answer is a good one`() async throws {
        let server = try TestServer()
        let result = try await runProcess([
            "wrk", "-t", "1", "-c", "64", "-d", "1s", "http://127.0.0.1:\(server.port)/hello",
        ])
        #expect(result.status == 0)
        #expect(result.outputText.contains(" requests in "), "\(result.outputText)")
        for word in ["Socket errors", "Non-2xx"] {
            #expect(!result.outputText.contains(word), "\(result.outputText)")
        }
        await server.stop()
    }

    @Test func `Python's client keeps its connection through every kind of request, and pipelines`()
        async throws
    {
        let server = try TestServer()
        let result = try await runProcess(["python3", "-c", Self.python, "\(server.port)"])
        #expect(result.outputText == "good\n", "\(result.errorText)")
        await server.stop()
    }

    private static let python = """
        import http.client, socket, sys
        port = int(sys.argv[1])
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        client.connect()
        first = client.sock
        def ask(method, path, body=None, chunked=False):
            client.request(method, path, body, encode_chunked=chunked,
                           headers={"Transfer-Encoding": "chunked"} if chunked else {})
            answer = client.getresponse()
            return answer.status, answer.read(), dict(answer.getheaders())
        for turn in range(50):
            assert ask("GET", "/hello")[:2] == (200, b"hello")
            assert ask("POST", "/echo", b"abc")[:2] == (200, b"abc")
            assert ask("POST", "/echo", iter([b"ab", b"c"]), chunked=True)[:2] == (200, b"abc")
            status, content, fields = ask("HEAD", "/hello")
            assert (status, content, fields["Content-Length"]) == (200, b"", "5")
            assert ask("GET", "/empty")[:2] == (204, b"")
            assert ask("POST", "/refuse", b"x" * 1000)[:2] == (404, b"refused")
            assert client.sock is first, "the connection was opened anew"
        client.close()
        # Two hundred requests at once, the writing side ended behind them.
        raw = socket.create_connection(("127.0.0.1", port), timeout=60)
        raw.sendall(b"GET /hello HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n" * 200)
        raw.shutdown(socket.SHUT_WR)
        stream = raw.makefile("rb")
        for turn in range(200):
            assert stream.readline() == b"HTTP/1.1 200 OK\\r\\n"
            while stream.readline() != b"\\r\\n": pass
            assert stream.read(5) == b"hello"
        assert stream.read() == b""
        print("good")
        """

    @Test func `openssl s_client talks to it, and a request smuggled over TLS fares no better`()
        async throws
    {
        let identity = try await TestIdentity()
        let server = try TestServer(tls: identity.configuration)
        func ask(_ text: String) async throws -> String {
            try await runProcess(
                [
                    "openssl", "s_client", "-quiet", "-verify_return_error", "-CAfile",
                    identity.certificate, "-connect", "127.0.0.1:\(server.port)",
                ], input: Array(text.utf8)
            ).outputText
        }
        let good = try await ask("GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(good.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(good.hasSuffix("\r\n\r\nhello"))
        let handled = server.handler.handled.count
        let bad = try await ask(
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "0\r\n\r\n" + RawInput.second)
        #expect(bad.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(bad.hasSuffix("ambiguousFraming"))
        #expect(server.handler.handled.count == handled)
        await server.stop()
    }

    @Test func `over TLS every input of the smuggling suite fares as in plain text`() async throws {
        let identity = try await TestIdentity()
        let server = try TestServer(tls: identity.configuration)
        let inputs = RawInputs.all.filter { $0.bytes.count < 100_000 }
        let lines = inputs.map { input in
            let count = input.closes ? 0 : input.statuses.count
            return "\(count) " + input.bytes.map { format($0) }.joined()
        }
        let result = try await runProcess(
            ["python3", "-c", Self.pythonTLS, "\(server.port)", identity.certificate],
            input: Array(lines.joined(separator: "\n").utf8))
        let answers = result.outputText.split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast()
        #expect(answers.count == inputs.count, "\(result.errorText)")
        for (input, answer) in zip(inputs, answers) {
            #expect(answer == "\(input.statuses)", "\(input.fault)")
        }
        await server.stop()
    }

    private func format(_ octet: UInt8) -> String {
        let digits = String(octet, radix: 16)
        return octet < 16 ? "0" + digits : digits
    }

    /// Sends each line of its input (how many answers are awaited, 0 for all up to the end; hexadecimal octets) over a TLS
    /// connection of its own, and prints the statuses.
    private static let pythonTLS = """
        import re, socket, ssl, sys
        context = ssl.create_default_context(cafile=sys.argv[2])
        for line in sys.stdin:
            count, octets = int(line.split()[0]), bytes.fromhex(line.split()[1])
            raw = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=60)
            client = context.wrap_socket(raw, server_hostname="127.0.0.1")
            answer = b""
            try:
                client.sendall(octets)
                while True:
                    more = client.recv(65536)
                    answer += more
                    statuses = [int(s) for s in re.findall(rb"HTTP/1.1 (\\d+) ", answer)]
                    if not more or (count and len(statuses) >= count): break
            except (ConnectionError, ssl.SSLError):
                statuses = [int(s) for s in re.findall(rb"HTTP/1.1 (\\d+) ", answer)]
            client.close()
            print(statuses, flush=True)
        """
}
