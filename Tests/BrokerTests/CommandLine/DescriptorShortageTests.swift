import Glibc
import TestKit
import Testing

@testable import Broker

/// cases.md "Descriptor exhaustion", with the database in it.
@Suite struct DescriptorShortageTests {
    @Test func `connections without end leave the broker its database`() async throws {
        let deployment = try await Deployment()
        let path = try deployment.configuration()
        let process = try RunningProcess(
            ["prlimit", "--nofile=96", BrokerProgram.path, "serve", "--config", path],
            environment: BrokerProgram.environmentUnderLimits)
        let broker = try await ServingBroker(process)
        let own = try WireConnection(port: broker.port)
        let mint = MintCall.token(deployment.token).octets
        try await own.send(mint)
        #expect(try await own.response().status == 200)
        let crowd = try (0..<150).map { _ in try WireConnection(port: broker.port) }
        _ = try await process.line { $0.contains("acceptPaused") }
        // All database connections are gone, and new ones must be made; so must the probe's.
        try await deployment.query(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
        var status = 0
        while status != 200 {
            try await own.send(mint)
            status = try await own.response().status
            #expect([200, 503].contains(status))
        }
        status = 0
        // The probe looks once a second at most.
        while status != 200 {
            try await own.send("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            status = try await own.response().status
        }
        process.signal(SIGHUP)
        _ = try await process.line { $0.contains("\"broker.reloaded\"") }
        #expect(crowd.count == 150)
        #expect(await broker.stop() == 0)
    }
}
