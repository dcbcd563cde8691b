import JOSE
import TestKit
import Testing

@testable import Broker

/// Shadow limits from the declaration to the log, through whole services over one Postgres.
@Suite struct ShadowServiceTests {
    @Test
    func
        `the log tells whom a shadow would have refused, on every replica, and answers tell nothing`()
        async throws
    {
        let deployment = try await Deployment(
            limits: """
                {install: {burst: 100, rate: 100, per: 1},
                 shadow: {install: {burst: 2, rate: 1, per: 3600}, client: {burst: 3, rate: 1, per: 3600}}}
                """)
        let brokers = [try await deployment.start(), try await deployment.start()]
        var answers: [WireResponse] = []
        for number in 0..<4 {
            answers.append(
                try await brokers[number % 2].settled(.token(deployment.token)))
        }
        answers.append(
            try await brokers[0].settled(.token(deployment.token) { $0.clientId = "other" }))
        #expect(answers.allSatisfy { $0.status == 200 })
        for answer in answers {
            #expect(!answer.text.contains("shadow"))
            #expect(answer.first("ratelimit-policy")?.hasPrefix("\"install\";q=2;") == false)
        }
        for broker in brokers { await broker.stop() }
        let logs = [
            try await brokers[0].log.events("assertion."),
            try await brokers[1].log.events("assertion."),
        ]
        func told(_ event: JSONValue) -> [String] {
            (event["shadow"]?.array ?? []).map { $0["policy"]?.string ?? "" }
        }
        #expect(logs[0].map(told) == [[], ["install"], []])
        #expect(logs[1].map(told) == [[], ["install", "client"]])
        let waits = logs.flatMap(\.self).flatMap { $0["shadow"]?.array ?? [] }.map {
            $0["retry_after"]?.integer ?? 0
        }
        #expect(waits.count == 3)
        #expect(waits.allSatisfy { (3500...3600).contains($0) })
        for broker in brokers { try await LogSchema.check(try await broker.log.lines()) }
    }

    @Test func `a tenant's shadow counts all of its clients`() async throws {
        let deployment = try await Deployment()
        try await deployment.declare(
            limits: Deployment.ample,
            tenantLimits: "{shadow: {tenant: {burst: 2, rate: 1, per: 86400}}}")
        let broker = try await deployment.start()
        for client in ["app", "other", "app"] {
            let answer = try await broker.settled(
                .token(deployment.token) { $0.clientId = client })
            #expect(answer.status == 200)
        }
        await broker.stop()
        let events = try await broker.log.events("assertion.minted")
        #expect(events.map { $0["shadow"]?.array?.count } == [nil, nil, 1])
    }
}
