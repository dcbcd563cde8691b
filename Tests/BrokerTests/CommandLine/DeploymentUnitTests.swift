import Glibc
import JOSE
import TestKit
import Testing

@testable import Broker

/// `deploy/token-broker.service`: the broker must get by with what the unit leaves it.
@Suite struct DeploymentUnitTests {
    static let unit = Fixtures.path("../deploy/token-broker.service")

    /// Starts a program confined as the unit says.
    func confined(_ unit: String, _ command: [String]) throws -> RunningProcess {
        let python = BrokerProgram.environment["PYTHON"] ?? "python3"
        return try RunningProcess(
            [python, Fixtures.path("Oracle/under_unit.py"), unit] + command,
            environment: BrokerProgram.environmentUnderLimits)
    }

    @Test func `the broker starts, mints, reloads and stops with the unit's system calls`()
        async throws
    {
        let deployment = try await Deployment()
        let files = try await TLSFiles("unit", in: deployment.directory)
        let path = try deployment.configuration(more: files.member)
        let broker = try confined(Self.unit, [BrokerProgram.path, "serve", "--config", path])
        let started = try await broker.line { $0.contains("\"broker.started\"") }
        let event = try JSONValue(parsing: Array(started.utf8))
        let port = try #require(event["port"]?.integer.flatMap { UInt16(exactly: $0) })
        #expect(try await TLSFiles.mintStatus(deployment, port: port) == "200")
        broker.signal(SIGHUP)
        _ = try await broker.line { $0.contains("\"broker.reloaded\"") }
        #expect(try await TLSFiles.mintStatus(deployment, port: port) == "200")
        broker.signal(SIGTERM)
        #expect(await broker.status() == 0)
        #expect(!broker.wasEndedBySignal)
    }

    /// So that the test above can fail.
    @Test func `what the unit does not allow fails, and ends nothing`() async throws {
        let refused = try confined(
            Self.unit, ["python3", "-c", "import os; os.chroot('/')"])
        #expect(await refused.status() == 1)
        #expect(!refused.wasEndedBySignal)
        #expect(try refused.errorText().contains("PermissionError"))
        let directory = try TemporaryDirectory()
        let strict = try directory.write(
            Array("SystemCallFilter=@system-service\nSystemCallFilter=~@privileged\n".utf8),
            to: "strict.service")
        let ended = try confined(strict, ["python3", "-c", "import os; os.chroot('/')"])
        #expect(await ended.status() == SIGSYS)
        #expect(ended.wasEndedBySignal)
    }
}
