import AssertionMint
import JOSE
import Testing

@testable import Broker

@Suite struct LimitOverridesTests {
    private static let soon = MonotonicTime(nanoseconds: 1_000_000)
    private let declared = MintLimits(
        install: .only(1), client: .only(2, name: "client"), tenant: .only(3, name: "tenant"))

    private func override(
        _ id: Int64, _ subject: LimitOverride.Subject, endsAt: MonotonicTime = soon
    ) -> LimitOverride {
        LimitOverride(
            .init(id: id, subject: subject, limit: LimitSettings(burst: 10 + id, rate: 1, per: 60)),
            endsAt: endsAt)
    }

    private func applied(
        _ overrides: [LimitOverride], client: String = "app", tenant: String = "acme",
        jkt: String = Sample.jkt, now: UInt64 = 0
    ) throws -> [String] {
        let limits = LimitOverrides(overrides).applied(
            to: declared, of: try Sample.clientId(client), tenant: try Sample.tenantId(tenant),
            try #require(DpopJkt(jkt)), now: MonotonicTime(nanoseconds: now))
        #expect(limits.install.name == "install", "answers and the log know it by this name")
        #expect(limits.client.name == "client")
        #expect(limits.tenant?.name == "tenant")
        return [limits.install.state, limits.client.state, limits.tenant?.state ?? ""]
    }

    private func all() throws -> [LimitOverride] {
        let (app, jkt) = (try Sample.clientId("app"), try #require(DpopJkt(Sample.jkt)))
        return [
            override(1, .install(jkt, of: app)), override(2, .eachInstall(of: app)),
            override(3, .client(app)), override(4, .tenant(try Sample.tenantId("acme"))),
        ]
    }

    @Test func `without overrides the declared limits hold`() throws {
        #expect(try applied([]) == ["install", "client", "tenant"])
    }

    @Test func `each holds for whom it names, the install's own before that of each`() throws {
        #expect(try applied(all()) == ["install@1", "client@3", "tenant@4"])
        #expect(
            try applied(all(), jkt: LogSample.jkt(1)) == ["install@2", "client@3", "tenant@4"])
        #expect(try applied(all(), client: "web") == ["install", "client", "tenant@4"])
        #expect(
            try applied(all(), client: "web", tenant: "shop") == ["install", "client", "tenant"])
    }

    @Test func `one that has ended is none, and what it hid shows again`() throws {
        let (app, jkt) = (try Sample.clientId("app"), try #require(DpopJkt(Sample.jkt)))
        let overrides = [
            override(1, .install(jkt, of: app)),
            override(2, .eachInstall(of: app), endsAt: MonotonicTime(nanoseconds: 2_000_000)),
        ]
        #expect(try applied(overrides, now: 999_999)[0] == "install@1")
        #expect(try applied(overrides, now: 1_000_000)[0] == "install@2")
        #expect(try applied(overrides, now: 1_999_999)[0] == "install@2")
        #expect(try applied(overrides, now: 2_000_000)[0] == "install")
    }

    @Test func `a tenant without a limit gets one`() throws {
        let bare = MintLimits(install: .only(1), client: .only(2), tenant: nil)
        let tenant = try Sample.tenantId()
        let limits = LimitOverrides([override(9, .tenant(tenant))]).applied(
            to: bare, of: try Sample.clientId(), tenant: tenant,
            try #require(DpopJkt(Sample.jkt)), now: MonotonicTime(nanoseconds: 0))
        #expect(
            limits.tenant
                == RatePolicy(
                    name: "tenant", burst: 19, stepMicroseconds: 60_000_000, state: "tenant@9"))
    }

    @Test func `the longest id and name fit what the store keeps`() throws {
        for subject in try all().map(\.subject) {
            let policy = LimitOverride.Declared(
                id: .max, subject: subject,
                limit: LimitSettings(
                    burst: LimitSettings.largest, rate: 1, per: LimitSettings.longestPer)
            ).policy
            #expect(policy.isValid)
        }
    }
}
