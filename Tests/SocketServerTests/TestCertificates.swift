import Foundation
import TestKit

@testable import SocketServer

/// The certificates that `Tests/Oracle/certificates.py` makes, once for all tests.
struct TestCertificates: Sendable {
    private let directory: TemporaryDirectory

    static func shared() async throws -> TestCertificates { try await made.value }

    private static let made = Task {
        let directory = try TemporaryDirectory()
        _ = try await Oracle.run("certificates.py", [directory.path], input: "")
        return TestCertificates(directory: directory)
    }

    /// The path of `NAME.pem`.
    func file(_ name: String) -> String { directory.file("\(name).pem") }

    /// The base64 of each certificate in `NAME.pem`, leaf first.
    func base64(_ name: String) throws -> [String] {
        try pem(name).split(separator: "-----BEGIN CERTIFICATE-----\n").map { block in
            block.split(separator: "\n").prefix { !$0.hasPrefix("-----") }.joined()
        }
    }

    /// The certificates of `NAME.pem` without the key.
    func pem(_ name: String) throws -> String {
        let text = try String(contentsOfFile: file(name), encoding: .utf8)
        return String(
            text.prefix(
                upTo: text.firstRange(of: "-----BEGIN PRIVATE")?.lowerBound ?? text.endIndex))
    }

    /// A server for 127.0.0.1.
    func configuration(
        server: String = "server-chain", key: String = "server-key", authorities: String? = nil,
        lists: String? = nil
    ) -> TLSConfiguration {
        TLSConfiguration(
            certificateChainFile: file(server), privateKeyFile: file(key),
            clientAuthorityFile: authorities.map(file), clientRevocationFile: lists.map(file))
    }

    /// What a client of Python's ssl is told for each question; `nil` is a client without a certificate.
    func ask(
        _ server: TestServer, _ questions: [(version: String, client: String?)]
    ) async throws -> [Told] {
        let input = questions.map { "\($0.version)\t\($0.client.map(file) ?? "")\n" }.joined()
        let output = try await Oracle.run(
            "tls_client.py", ["\(server.port)", file("root")], input: input)
        return output.split(separator: "\n").map { line in
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
            return parts[0] == "answered"
                ? .answered(sha256: String(parts[1]), body: String(parts[2]))
                : .refused(String(parts[1]))
        }
    }

    /// What one client is told, over TLS 1.3.
    func ask(_ server: TestServer, _ client: String?) async throws -> Told? {
        try await ask(server, [(version: "1.3", client: client)]).first
    }

    enum Told: Equatable {
        case answered(sha256: String, body: String)
        /// The reason as Python's ssl has it; an alert of the server's says so.
        case refused(String)

        var isAnswered: Bool { if case .answered = self { true } else { false } }
        var isAlert: Bool {
            if case .refused(let reason) = self { reason.contains("ALERT") } else { false }
        }
    }
}
