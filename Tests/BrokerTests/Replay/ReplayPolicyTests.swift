import AssertionMint
import JOSE
import TestKit
import Testing

@testable import Broker

@Suite struct ReplayPolicyTests {
    private func faults(_ text: String) -> [String] {
        do {
            _ = try ReplayPolicy(Array(text.utf8))
            return []
        } catch { return error.faults.map(\.description) }
    }

    @Test func `a whole declaration is one, and its keys are not looked at`() throws {
        let policy = try ReplayPolicy(
            Array(
                """
                {tenants: {acme: {limits: {tenant: {burst: 9, rate: 3, per: 1}}, clients: {
                    app: {alg: "ES256", issuers: ["https://idp.example"], gates: ["dpop"], keys: [{uri: "file:/none"}],
                          limits: {install: {burst: 5, rate: 1, per: 60}}},
                }}, shop: {clients: {web: {}}}}}
                """.utf8))
        #expect(
            policy.tenants == [
                RatePolicy(name: "tenant", burst: 9, stepMicroseconds: 333_334), nil,
            ])
        let app = policy.clients[Int(try #require(policy.place(of: try Sample.clientId("app"))))]
        #expect(app.install == RatePolicy(name: "install", burst: 5, stepMicroseconds: 60_000_000))
        #expect(app.client == LimitSettings.defaultClient.policy(named: "client"))
        #expect(app.tenant == 0)
        let web = policy.clients[Int(try #require(policy.place(of: try Sample.clientId("web"))))]
        #expect(web.install == LimitSettings.defaultInstall.policy(named: "install"))
        #expect(web.tenant == 1)
        #expect(policy.place(of: try Sample.clientId("none")) == nil)
    }

    @Test(arguments: [
        ("[]", "must be an object"), ("{}", "tenants: is missing"),
        ("{tenants: 1}", "must be an object"),
        ("{tenants: {a: {}}}", "tenants.a.clients: is missing"),
        ("{tenants: {a: {clients: {}, limit: 1}}}", "tenants.a.limit: unknown member"),
        ("{tenants: {a: {clients: {x: {limits: {instal: 1}}}}}}", "limits.instal: unknown member"),
        (
            "{tenants: {a: {clients: {x: {limits: {install: {burst: 0, rate: 1, per: 1}}}}}}}",
            "burst"
        ),
        ("{tenants: {a: {clients: {'x y': {}}}}}", "a client_id is"),
        ("{tenants: {a: {clients: {x: {}}}, b: {clients: {x: {}}}}}", "declared twice"),
        ("{tenants: {", "the text ends too early"),
    ])
    func `a file with a fault is refused by name`(text: String, fault: String) {
        #expect(faults(text).contains { $0.contains(fault) }, "\(faults(text))")
    }

    @Test func `every fault is told at once`() {
        #expect(
            faults("{tenants: {a: {limits: {tenant: {}}, clients: {x: {limit: 1}, y: 2}}}}").count
                == 5)
    }
}
