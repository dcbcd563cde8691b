import Glibc
import JOSE
import TestKit
import Testing

@testable import Broker

/// `broker serve` as a process.
@Suite struct ServeTests {
    @Test func `it mints, logs by the schema, tells no secret, and ends with 0 on SIGTERM`()
        async throws
    {
        let deployment = try await Deployment()
        // With `trust` the password is not asked for; it must not show all the same.
        let url = deployment.url + "&password=canary-password"
        let broker = try await ServingBroker(try deployment.configuration(url: url))
        var assertions: [String] = []
        for _ in 0..<3 {
            let response = try await broker.send(.token(deployment.token))
            assertions.append(try #require(try response.json()["client_assertion"]?.string))
        }
        let install = try Install()
        let proof = try install.proof(
            for: Deployment.publicURL + "/v1/assertions", iat: WallClock.system.seconds, nonce: nil)
        let challenged = try await broker.send(.proof(proof, jkt: install.jkt))
        #expect(challenged.code == "use_dpop_nonce")
        let proven = try await broker.send(
            .proof(
                try install.proof(
                    for: Deployment.publicURL + "/v1/assertions", iat: WallClock.system.seconds,
                    nonce: challenged.first("dpop-nonce")), jkt: install.jkt))
        #expect(proven.status == 200)
        #expect(try await broker.send(.token("tb_canary-unknown")).status == 401)
        #expect(await broker.stop() == 0)
        #expect(!broker.process.wasEndedBySignal)
        let lines = broker.process.lines
        try await LogSchema.check(lines)
        #expect(lines.count { $0.contains("\"assertion.minted\"") } == 4)
        #expect(lines.last?.contains("broker.stopped") == true)
        let errors = try broker.process.errorText()
        #expect(errors.isEmpty)
        let pem = String(decoding: try deployment.directory.read("app.pem"), as: UTF8.self)
        let keyLines = pem.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("-") }
        let signatures = assertions.compactMap { $0.split(separator: ".").last.map(String.init) }
        let canaries = ["canary", deployment.token, proof] + signatures + keyLines
        for canary in canaries { #expect(!lines.joined().contains(canary)) }
    }

    @Test func `an outside judge accepts what it mints`() async throws {
        let deployment = try await Deployment()
        let broker = try await ServingBroker(try deployment.configuration())
        let jwks = try await broker.get("/v1/clients/app/jwks.json")
        let keys = try deployment.directory.write(jwks.body, to: "jwks.json")
        let responses = try await atOnce(50) { _ in try await broker.send(.token(deployment.token))
        }
        let assertions = try responses.map {
            try #require(try $0.json()["client_assertion"]?.string)
        }
        let judge = try await Oracle.run(
            "verify_assertions.py",
            [
                "--jwks", keys, "--client-id", "app", "--audience", Sample.issuer, "--jkt",
                Sample.jkt,
            ],
            input: assertions.joined(separator: "\n") + "\n")
        let jtis = Set(judge.split(separator: "\n").map(String.init))
        #expect(jtis.count == 50)
        #expect(Set(try await deployment.jtis()) == jtis)
        #expect(await broker.stop() == 0)
    }

    @Test func `10 000 mints over two processes are all different, each once in Postgres`()
        async throws
    {
        let deployment = try await Deployment()
        let path = try deployment.configuration()
        let brokers = [try await ServingBroker(path), try await ServingBroker(path)]
        let call = MintCall.token(deployment.token).octets
        let jtis: [[String]] = try await atOnce(40) { number in
            let connection = try WireConnection(port: brokers[number % 2].port)
            var jtis: [String] = []
            // Ten requests at a time; what a busy machine refuses with 503 is asked for again.
            while jtis.count < 250 {
                let count = min(10, 250 - jtis.count)
                try await connection.send(Array([[UInt8]](repeating: call, count: count).joined()))
                for _ in 0..<count {
                    let response = try await connection.response()
                    if response.status == 503 { continue }
                    try #require(response.status == 200, "\(response.code ?? "")")
                    jtis.append(try #require(try response.json()["jti"]?.string))
                }
            }
            return jtis
        }
        let minted = Set(jtis.joined())
        #expect(jtis.joined().count == 10_000)
        #expect(minted.count == 10_000)
        let stored = try await deployment.jtis()
        #expect(Set(stored).count == stored.count)
        #expect(minted.isSubset(of: stored))
        for broker in brokers { #expect(await broker.stop() == 0) }
        let logged = brokers.map { broker in
            broker.process.lines.count { $0.contains("\"assertion.minted\"") }
        }
        #expect(logged.reduce(0, +) == 10_000)
    }

    @Test func `admin commands act on a running broker at once`() async throws {
        let deployment = try await Deployment()
        let broker = try await ServingBroker(try deployment.configuration())
        let admin = { @Sendable (words: String...) in
            let command = ["env", "DATABASE_URL=\(deployment.url)", BrokerProgram.path] + words
            return String(decoding: try await runChecked(command), as: UTF8.self)
        }
        #expect(try await broker.send(.token(deployment.token)).status == 200)
        _ = try await admin("block", Sample.jkt)
        #expect(try await broker.send(.token(deployment.token)).code == "install_blocked")
        _ = try await admin("unblock", Sample.jkt)
        // Being let in again waits for the next look at the revision, within a second or so.
        #expect(try await broker.mint(.token(deployment.token)) { $0.status == 200 }.status == 200)

        let text = """
            {tenants: {acme: {clients: {app: {alg: "ES256", issuers: ["\(Sample.issuer)"],
             gates: ["backend_token"], lifetime: 17, keys: [{uri: "\(deployment.keyURI)", state: "active"}]}}}}}
            """
        _ = try await admin(
            "apply", try deployment.directory.write(Array(text.utf8), to: "d.json5"))
        let shorter = try await broker.send(.token(deployment.token))
        let claims = try MintRouteTests.claims(shorter).claims
        #expect(try #require(claims["exp"]?.integer) - (try #require(claims["iat"]?.integer)) == 17)
        let install = try Install()
        let proof = try install.proof(
            for: Deployment.publicURL + "/v1/assertions", iat: WallClock.system.seconds,
            nonce: nil)
        #expect(try await broker.send(.proof(proof, jkt: install.jkt)).status == 401)

        let output = try await admin("token", "create", "--tenant", "acme")
        let second = output.split(separator: "\n").joined()
        // So does a token that was just made.
        #expect(try await broker.mint(.token(second)) { $0.status == 200 }.status == 200)
        _ = try await admin("token", "revoke", "t1")
        #expect(try await broker.send(.token(deployment.token)).code == "caller_unauthenticated")
        #expect(try await broker.send(.token(second)).status == 200)
        #expect(await broker.stop() == 0)
    }

    @Test func `a rotated key signs from the next mint on, and both are published`() async throws {
        let deployment = try await Deployment()
        let broker = try await ServingBroker(try deployment.configuration())
        let old = try MintRouteTests.claims(try await broker.send(.token(deployment.token))).jws.kid
        let next = deployment.directory.file("next.pem")
        _ = try await BrokerProgram.run("key", "generate", "--alg", "ES256", "--out", next)
        let declare = { @Sendable (oldState: String, nextState: String) in
            let text = """
                {tenants: {acme: {clients: {app: {alg: "ES256", issuers: ["\(Sample.issuer)"], gates: ["backend_token"],
                 keys: [\(oldState.isEmpty ? "" : "{uri: '\(deployment.keyURI)', state: '\(oldState)'},")
                  {uri: "file:\(next)", state: "\(nextState)"}]}}}}}
                """
            let file = try deployment.directory.write(Array(text.utf8), to: "d.json5")
            return try await runProcess([
                "env", "DATABASE_URL=\(deployment.url)", BrokerProgram.path, "apply", file,
            ])
        }
        let letPass = { @Sendable (seconds: Int) in
            try await deployment.letPassForKeys(seconds)
        }
        // A key nobody could have fetched yet must not sign, nor the one that signs just go.
        let early = try await declare("retiring", "active")
        #expect(early.status == 65)
        #expect(early.errorText.contains("declare it pending for 310 s"))
        #expect(try await declare("active", "pending").status == 0)
        let before = try MintRouteTests.claims(try await broker.send(.token(deployment.token))).jws
            .kid
        #expect(before == old)
        let published = try JWKSet(try await broker.get("/v1/clients/app/jwks.json").json()).keys
        #expect(published.count == 2)
        try await letPass(250)
        let stillEarly = try await declare("retiring", "active")
        #expect(stillEarly.errorText.contains("must stay pending for another"))
        #expect(try await declare("", "active").status == 65)
        try await letPass(60)
        #expect(try await declare("retiring", "active").status == 0)
        let response = try await broker.send(.token(deployment.token))
        let jws = try MintRouteTests.claims(response).jws
        #expect(jws.kid != old)
        let key = try #require(published.first { $0.kid == jws.kid }, "published before it signed")
        #expect(jws.isSigned(by: try PublicKey(key)))
        #expect(
            try JWKSet(try await broker.get("/v1/clients/app/jwks.json").json()).keys.count == 2)
        // The old one stays until its last assertion has expired.
        let tooSoon = try await declare("", "active")
        #expect(tooSoon.errorText.contains("must stay retiring for another"))
        try await letPass(120)
        #expect(try await declare("", "active").status == 0)
        #expect(await broker.stop() == 0)
    }

    @Test func `it needs no more than the role of the service may`() async throws {
        let deployment = try await Deployment()
        let role =
            "svc_" + Base64URL.encode(try SecureRandom.bytes(6)).lowercased().filter { $0 != "-" }
        try await deployment.query("CREATE ROLE \(role) LOGIN; GRANT broker_service TO \(role)")
        let url = deployment.url.replacing("user=postgres", with: "user=\(role)")
        let broker = try await ServingBroker(try deployment.configuration(url: url))
        #expect(try await broker.send(.token(deployment.token)).status == 200)
        #expect(try await broker.get("/readyz") { $0.status == 200 }.status == 200)
        #expect(await broker.stop() == 0)
        try await deployment.query("REVOKE broker_service FROM \(role); DROP ROLE \(role)")
    }
}
