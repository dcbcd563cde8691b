import Foundation
import TestKit
import Testing

@testable import Broker

/// cases.md "Unbounded keys": an attacker with good credentials of one client and a fresh thumbprint for each call.
@Suite struct InventedInstallsTests {
    /// A million takes minutes, so it is asked for: `BROKER_INVENTED_INSTALLS=1000000`.
    private static let count =
        ProcessInfo.processInfo.environment["BROKER_INVENTED_INSTALLS"].flatMap(Int.init) ?? 10_000

    @Test func `rows are what the client's limit lets in, and go within two windows`() async throws
    {
        let url = try await PostgresCluster.shared().freshDatabase()
        let connection = ControlConnection(conninfo: url)
        let lane = TestLane(postgres: url) { $0.waitingLimit = 20_000 }
        let client = LimitSettings(burst: 2000, rate: 1000, per: 1).policy(named: "client")
        let install = LimitSettings.defaultInstall.policy(named: "install")
        func rows() async throws -> Int64 {
            try await connection.query("SELECT count(*) AS count FROM broker.install_rate")[0]
                .integer("count")
        }
        let began = MonotonicTime.now()
        var passed = 0
        for _ in 0..<(Self.count / 250) {
            let verdicts = await lane.record(
                (0..<250).map { _ in .valid(install: install, client: client) })
            passed += verdicts.count(where: \.isRecorded)
            #expect(verdicts.allSatisfy { $0.isRecorded || $0.isLimited(by: client) })
        }
        let seconds =
            Int64((MonotonicTime.now().nanoseconds - began.nanoseconds) / 1_000_000_000) + 1
        #expect(try await rows() == Int64(passed), "a refused call makes no row")
        #expect(Int64(passed) <= 2000 + 1000 * seconds)
        // One that behaves has its own budget, whenever the client's limit lets anybody in.
        let well = MintRecord.randomJkt()
        var own: [MintVerdict] = []
        while own.count < 3 {
            let verdict = await lane.record(.valid(dpopJkt: well, install: install, client: client))
            if !verdict.isLimited(by: client) { own.append(verdict) }
        }
        #expect(own.allSatisfy { $0.isRecorded })
        // Two windows of the install's limit later.
        _ = try await connection.query(
            "UPDATE broker.install_rate SET tat = tat - 120000000, seen_at = seen_at - 120000000")
        let round = try await StoreMaintenance(connection: connection).run()
        #expect(round.forgotten == Int64(passed) + 1)
        #expect(try await rows() == 0)
        print("\(Self.count) invented installs: \(passed) rows at most, in \(seconds) s")
    }
}
