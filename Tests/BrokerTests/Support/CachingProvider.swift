import HTTPClient
import JOSE
import Synchronization
import TestKit
import Testing

@testable import Broker

/// `Tests/Oracle/caching_provider.py`: verifiers that keep a key set for as long as its `max-age` says. Seconds pass for their
/// sets when a test says so.
final class CachingProvider: Sendable {
    struct Failure: Error {
        let description: String
    }

    static let verifiers = 4

    private let process: RunningProcess
    private let client: HTTPClient
    private let url: String
    private let seconds = Mutex<Int64>(0)
    private let refused = Mutex<[String]>([])

    init(replicas: [RunningBroker]) async throws {
        process = try RunningProcess(
            Oracle.command(
                "caching_provider.py",
                [
                    "--client-id", "app", "--audience", Sample.issuer,
                    "--verifiers", "\(Self.verifiers)",
                ]
                    + replicas.map {
                        "http://127.0.0.1:\($0.service.port)/v1/clients/app/jwks.json"
                    }),
            environment: BrokerProgram.environment)
        url = "http://127.0.0.1:\(try await process.line { Int($0) != nil })"
        client = HTTPClient(
            configuration: HTTPClientConfiguration(
                totalTimeout: 120, maximumConcurrent: Self.verifiers, allowInsecureLoopback: true))
    }

    /// Everything that any verifier refused, and why.
    var refusals: [String] { refused.withLock { $0 } }

    func letPass(_ step: Int64) { seconds.withLock { $0 += step } }

    /// Shows an assertion to one of the verifiers.
    ///
    /// - Returns: the assertion's kid.
    func check(_ assertion: String, by verifier: Int) async throws -> String {
        let now = seconds.withLock { $0 }
        let answer = try await json(
            await client.send(
                method: "POST", url: "\(url)/\(verifier)?now=\(now)", body: Array(assertion.utf8)))
        let kid = try #require(answer["kid"]?.string)
        if let why = answer["refused"]?.string { refused.withLock { $0.append("\(kid): \(why)") } }
        return kid
    }

    /// How often each verifier fetched a key set.
    func fetches() async throws -> [Int64] {
        let answer = try await json(await client.send(method: "GET", url: "\(url)/fetches"))
        return try #require(answer.array).compactMap(\.integer)
    }

    private func json(_ outcome: HTTPOutcome) async throws -> JSONValue {
        guard case .answer(let answer) = outcome, answer.status == 200 else {
            throw Failure(description: "\(outcome); \(try process.errorText())")
        }
        return try JSONValue(parsing: answer.body)
    }
}
