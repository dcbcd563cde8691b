import Dispatch
import Foundation
import HTTPClient
import TestKit
import Testing

@Suite struct HTTPClientTests {
    private func client(
        readTimeout: Int = 30, totalTimeout: Int = 60, maximumBodyBytes: Int = 1 << 20,
        maximumConcurrent: Int = 8, allow: Bool = true, caFile: String? = nil
    ) -> HTTPClient {
        HTTPClient(
            configuration: HTTPClientConfiguration(
                caFile: caFile, readTimeout: readTimeout, totalTimeout: totalTimeout,
                maximumBodyBytes: maximumBodyBytes, maximumConcurrent: maximumConcurrent,
                allowInsecureLoopback: allow))
    }

    private func ok(_ body: String = "ok", _ headers: String = "") -> StubServer.Step {
        .send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)")
    }

    // MARK: - Answers

    @Test func `an answer keeps status, body and every header value in order`() async throws {
        let server = try StubServer([ok("body", "X-A: 1\r\nx-b:2  \r\nX-a: 3\r\n")])
        defer { server.stop() }
        guard case .answer(let answer) = await client().send(method: "GET", url: server.url) else {
            Issue.record("no answer")
            return
        }
        #expect(answer.status == 200)
        #expect(answer.body == Array("body".utf8))
        #expect(answer.headers.values("x-A") == ["1", "3"])
        #expect(answer.headers.first("X-B") == "2")
        #expect(answer.headers.first("none") == nil)
    }

    @Test func `the headers of an interim answer are not the answer's`() async throws {
        let server = try StubServer([
            .send(
                "HTTP/1.1 103 Early Hints\r\nX-A: early\r\n\r\n"
                    + "HTTP/1.1 204 No Content\r\nX-A: late\r\n\r\n")
        ])
        defer { server.stop() }
        guard case .answer(let answer) = await client().send(method: "GET", url: server.url) else {
            Issue.record("no answer")
            return
        }
        #expect(answer.status == 204)
        #expect(answer.headers.values("X-A") == ["late"])
    }

    @Test(arguments: ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
    func `method, headers and body go out as given and nothing is invented`(
        _ method: String
    ) async throws {
        let server = try StubServer([ok()])
        defer { server.stop() }
        let body: [UInt8]? = method == "GET" ? nil : Array("a=b".utf8)
        _ = await client().send(
            method: method, url: server.url + "/p?q=1", headers: [("X-Empty", ""), ("DPoP", "x")],
            body: body)
        let request = try #require(server.requests.first)
        #expect(request.hasPrefix("\(method) /p?q=1 HTTP/1.1\r\n"))
        #expect(request.contains("\r\nDPoP: x\r\n"))
        #expect(request.contains("\r\nX-Empty:"))
        #expect(!request.contains("Content-Type"))
        #expect(!request.contains("Expect"))
        #expect(request.contains("Content-Length: 3") == (body != nil))
        #expect(request.hasSuffix(body == nil ? "\r\n\r\n" : "\r\n\r\na=b"))
    }

    @Test(arguments: ["/a/./b", "/a/../b", "/..", "/a/%2e%2E/b", "/a//b/"])
    func `a path goes out as it was given`(_ path: String) async throws {
        let server = try StubServer([ok()])
        defer { server.stop() }
        _ = await client().send(method: "GET", url: server.url + path + "?x")
        #expect(server.requests.first?.hasPrefix("GET \(path)?x HTTP/1.1\r\n") == true)
    }

    @Test func `an empty body is a body of length zero, and bytes may be any`() async throws {
        let server = try StubServer([ok(), ok()])
        defer { server.stop() }
        let client = client()
        _ = await client.send(method: "POST", url: server.url, body: [])
        _ = await client.send(method: "POST", url: server.url, body: [0x61, 0, 0x62])
        #expect(server.requests[0].contains("Content-Length: 0\r\n"))
        #expect(server.requests[1].hasSuffix("\r\n\r\na\0b"))
    }

    @Test func `HEAD has no body to wait for`() async throws {
        let server = try StubServer([.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")])
        defer { server.stop() }
        guard case .answer(let answer) = await client().send(method: "HEAD", url: server.url) else {
            Issue.record("no answer")
            return
        }
        #expect(answer.body.isEmpty)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect is an answer and is not followed`(_ status: Int) async throws {
        let server = try StubServer([
            .send("HTTP/1.1 \(status) X\r\nLocation: /else\r\nContent-Length: 0\r\n\r\n"), ok(),
        ])
        defer { server.stop() }
        guard case .answer(let answer) = await client().send(method: "GET", url: server.url) else {
            Issue.record("no answer")
            return
        }
        #expect(answer.status == status)
        #expect(server.requests.count == 1)
    }

    @Test func `a body over the limit is dropped and said to be too long`() async throws {
        let server = try StubServer([ok("12345"), ok("123456"), ok("123456")])
        defer { server.stop() }
        let client = client(maximumBodyBytes: 5)
        func send(_ limit: Int? = nil) async -> HTTPAnswer? {
            let outcome = await client.send(
                method: "GET", url: server.url, maximumBodyBytes: limit)
            guard case .answer(let answer) = outcome else { return nil }
            return answer
        }
        #expect(await send()?.body.count == 5)
        let long = await send()
        #expect(long?.isOversized == true && long?.body.isEmpty == true && long?.status == 200)
        #expect(await send(6)?.body.count == 6)
    }

    // MARK: - Lost and unsent

    @Test func `a connection closed after the request is lost`() async throws {
        let server = try StubServer([.close])
        defer { server.stop() }
        #expect(await client().send(method: "POST", url: server.url, body: [1]) == .lost(.broken))
        #expect(server.requests.count == 1)
    }

    @Test(arguments: ["garbage\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut"])
    func `an answer that is none, or is cut, is lost`(_ text: String) async throws {
        let server = try StubServer([.send(text), .close])
        defer { server.stop() }
        let client = client(totalTimeout: 1)
        guard case .lost = await client.send(method: "GET", url: server.url) else {
            Issue.record("not lost")
            return
        }
    }

    @Test func `a request on a kept connection that breaks is never sent twice`() async throws {
        // libcurl would send it again by itself; a DPoP proof must not be presented twice.
        let server = try StubServer([ok(), .close, ok()])
        defer { server.stop() }
        let client = client()
        _ = await client.send(method: "GET", url: server.url + "/1")
        let second = await client.send(method: "POST", url: server.url + "/2", body: [1])
        #expect(second == .lost(.broken))
        #expect(server.requests.count == 2)
    }

    @Test func `connections are kept and used again`() async throws {
        // Many, since each starts the moment the one before has its outcome.
        let count = 500
        let server = try StubServer((0..<count).map { _ in ok() })
        defer { server.stop() }
        let client = client()
        for _ in 0..<count { _ = await client.send(method: "GET", url: server.url) }
        #expect(server.requests.count == count)
        #expect(server.connectionCount == 1)
    }

    @Test func `nobody listening and no such name are unsent`() async throws {
        let server = try StubServer([ok()])
        let url = server.url
        server.stop()
        #expect(await client().send(method: "GET", url: url) == .unsent(.unreachable))
        let outcome = await client().send(method: "GET", url: "https://no-such-name.invalid/")
        #expect(outcome == .unsent(.unresolved))
    }

    @Test(
        arguments: [
            "http://example.com/", "ftp://127.0.0.1/", "file:///etc/passwd", "", "nonsense",
            "http://127.0.0.1.example/",
        ])
    func `a URL that may not be used is unsent`(_ url: String) async {
        #expect(await client().send(method: "GET", url: url) == .unsent(.invalidRequest))
    }

    @Test func `plain http is refused unless loopback is allowed`() async throws {
        let server = try StubServer([ok()])
        defer { server.stop() }
        let outcome = await client(allow: false).send(method: "GET", url: server.url)
        #expect(outcome == .unsent(.invalidRequest))
        #expect(server.connectionCount == 0)
    }

    @Test(
        arguments: [
            ("X", "a\r\nY: b"), ("X", "a\0b"), ("X Y", "a"), ("", "a"), ("X:", "a"), ("X", "a\nb"),
        ])
    func `a header that would break out of its line is unsent`(
        _ name: String, _ value: String
    ) async throws {
        let server = try StubServer([ok()])
        defer { server.stop() }
        let outcome = await client().send(
            method: "GET", url: server.url, headers: [(name, value)])
        #expect(outcome == .unsent(.invalidRequest))
        #expect(server.connectionCount == 0)
    }

    @Test func `a peer that says nothing is given up after the read timeout`() async throws {
        let server = try StubServer([.hang])
        defer { server.stop() }
        let outcome = await client(readTimeout: 1).send(method: "GET", url: server.url)
        #expect(outcome == .lost(.timedOut))
    }

    @Test func `a cancelled task gets its outcome at once, and one in line is never sent`()
        async throws
    {
        let server = try StubServer([.hang, ok("third")])
        defer { server.stop() }
        let client = client(maximumConcurrent: 1)
        let first = Task { await client.send(method: "GET", url: server.url + "/first") }
        while server.requests.isEmpty { await Task.yield() }
        let second = Task { await client.send(method: "GET", url: server.url + "/second") }
        second.cancel()
        #expect(await second.value == .lost(.cancelled))
        first.cancel()
        #expect(await first.value == .lost(.cancelled))
        guard case .answer = await client.send(method: "GET", url: server.url + "/third") else {
            Issue.record("the client is stuck")
            return
        }
        #expect(server.requests.map { $0.prefix { $0 != "H" } } == ["GET /first ", "GET /third "])
    }

    @Test func `more requests than connections wait their turn`() async throws {
        let server = try StubServer((0..<40).map { _ in ok() })
        defer { server.stop() }
        let client = client(maximumConcurrent: 2)
        let answered = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    if case .answer = await client.send(method: "GET", url: server.url) {
                        true
                    } else {
                        false
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(answered == 40)
        #expect(server.connectionCount <= 2)
    }

    @Test func `the blocking variant gives the same outcome on a thread of the caller`()
        async throws
    {
        let server = try StubServer([ok("x")])
        defer { server.stop() }
        let client = client()
        let outcome = await withCheckedContinuation { continuation in
            DispatchQueue(label: "caller").async {
                continuation.resume(returning: client.sendAndWait(method: "GET", url: server.url))
            }
        }
        guard case .answer(let answer) = outcome else {
            Issue.record("no answer")
            return
        }
        #expect(answer.body == Array("x".utf8))
    }
}
