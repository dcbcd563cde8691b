import Foundation
import HTTPClient
import TestKit
import Testing

/// Against `openssl s_server`, which none of us wrote.
@Suite struct TLSTests {
    private final class Server {
        let directory: TemporaryDirectory
        let port: Int
        private let process: RunningProcess

        /// A self-signed certificate for 127.0.0.1 and a server with these options.
        init(_ options: [String] = []) async throws {
            directory = try TemporaryDirectory()
            for name in ["a", "b"] {
                try await runChecked([
                    "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj", "/CN=test",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                    directory.file("\(name).key"), "-out", directory.file("\(name).pem"),
                ])
            }
            process = try RunningProcess(
                [
                    "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert",
                    directory.file("a.pem"), "-key", directory.file("a.key"), "-www",
                ] + options, environment: ProcessInfo.processInfo.environment)
            // "ACCEPT 127.0.0.1:PORT" says that it listens, and where.
            let line = try await process.line { $0.hasPrefix("ACCEPT") }
            port = try #require(line.split(separator: ":").last.flatMap { Int($0) })
        }

        func get(caFile: String?) async -> HTTPOutcome {
            await HTTPClient(configuration: HTTPClientConfiguration(caFile: caFile))
                .send(method: "GET", url: "https://127.0.0.1:\(port)/")
        }
    }

    @Test func `the named authority is trusted, another and the system's are not`() async throws {
        let server = try await Server()
        guard case .answer(let answer) = await server.get(caFile: server.directory.file("a.pem"))
        else {
            Issue.record("no answer")
            return
        }
        #expect(answer.status == 200)
        let other = await server.get(caFile: server.directory.file("b.pem"))
        #expect(other == .unsent(.insecure))
        #expect(await server.get(caFile: nil) == .unsent(.insecure))
        #expect(await server.get(caFile: server.directory.file("none.pem")) == .unsent(.insecure))
    }

    @Test func `TLS 1.1 is not spoken`() async throws {
        let server = try await Server(["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"])
        let outcome = await server.get(caFile: server.directory.file("a.pem"))
        #expect(outcome == .unsent(.insecure))
    }

    @Test func `TLS 1.2 is spoken`() async throws {
        let server = try await Server(["-tls1_2"])
        guard case .answer = await server.get(caFile: server.directory.file("a.pem")) else {
            Issue.record("no answer")
            return
        }
    }
}
