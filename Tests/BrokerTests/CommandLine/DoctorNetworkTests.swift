import Foundation
import HTTPClient
import JOSE
import TestKit
import Testing

@testable import Broker

/// `broker doctor` over a running broker and a running `sandbox-idp`, all over TLS.
@Suite struct DoctorNetworkTests {
    /// A broker, a strict provider that fetches the broker's key set, and a client that both know.
    private struct World {
        let base: AdministrationTests.World
        let directory: TemporaryDirectory
        let authority: TestAuthority
        let broker: ServingBroker
        let configuration: String
        let provider: RunningProcess
        let issuer: String

        /// - Parameters:
        ///   - client: members of the client in the provider's configuration.
        ///   - keySet: where the provider looks for the keys; the broker's key set unless given.
        ///   - issuer: what the declaration calls the provider, by what it calls itself.
        init(
            client: String = "\"first_party_challenge_enabled\": true", keySet: String? = nil,
            authority: TestAuthority? = nil,
            issuer declared: (String) -> String = { $0 }
        ) async throws {
            base = try await AdministrationTests.World()
            directory = try TemporaryDirectory()
            self.authority = if let authority { authority } else { try await TestAuthority() }
            let authority = self.authority
            let files = try await authority.sign(
                "server", "IP:127.0.0.1,IP:127.0.0.2", for: "serverAuth")
            configuration = try directory.write(
                Array(
                    """
                    {listen: {address: "127.0.0.1", port: 0}, public_url: "https://broker.example",
                     tls: {certificate_file: "\(files.certificate)", key_file: "\(files.key)"},
                     database_url_file: "\(try directory.write(Array(base.url.utf8), to: "url"))",
                     migrations_directory: "\(PostgresCluster.migrations)", lanes: 1}
                    """.utf8), to: "broker.json5")
            broker = try await ServingBroker(configuration)
            let ownKeySet = "https://127.0.0.1:\(broker.port)/v1/clients/app/jwks.json"
            (provider, issuer) = try await Self.provider(
                files, authority, directory, keySet: keySet ?? ownKeySet, client)
            let declaration = try directory.write(
                Array(
                    """
                    {tenants: {acme: {clients: {app: {alg: "ES256", issuers: ["\(declared(issuer))"],
                     gates: ["dpop"], keys: [{uri: "\(base.keyURI)", state: "active"}],
                     jwks_uri: "\(ownKeySet)"}}}}}
                    """.utf8), to: "declaration.json5")
            #expect(try await base.broker("apply", declaration).status == 0)
            // Each answer is an event of the broker's, which learns of the client within about a second.
            let https = HTTPClient(
                configuration: HTTPClientConfiguration(caFile: authority.certificate))
            while true {
                guard case .answer(let answer) = await https.send(method: "GET", url: ownKeySet)
                else { throw KeySetUnreachable() }
                if answer.status == 200 { break }
            }
        }

        private struct KeySetUnreachable: Error {}

        /// Starts `sandbox-idp`, whose issuer has its port in it: one that is free, tried anew when it is taken meanwhile.
        private static func provider(
            _ files: (certificate: String, key: String), _ authority: TestAuthority,
            _ directory: TemporaryDirectory, keySet: String, _ client: String
        ) async throws -> (RunningProcess, String) {
            while true {
                let port = try freePort()
                let configuration = try directory.write(
                    Array(
                        """
                        {"listen": {"address": "0.0.0.0", "port": \(port)},
                         "issuer": "https://127.0.0.2:\(port)", "ca_file": "\(authority.certificate)",
                         "tls": {"certificate_file": "\(files.certificate)", "key_file": "\(files.key)"},
                         "clients": [{"client_id": "app", "jwks_uri": "\(keySet)",
                           "redirect_uris": ["https://app.example/cb"], \(client)}]}
                        """.utf8), to: "idp.json")
                let process = try RunningProcess(
                    [program, "serve", "--config", configuration],
                    environment: ProcessInfo.processInfo.environment)
                do {
                    _ = try await process.line { $0.contains("sandbox.ready") }
                    return (process, "https://127.0.0.2:\(port)")
                } catch {
                    let text = try process.errorText()
                    guard text.contains("cannot listen") else { throw error }
                }
            }
        }

        private static var program: String {
            URL(fileURLWithPath: BrokerProgram.path).deletingLastPathComponent()
                .appendingPathComponent("sandbox-idp").path
        }

        private static func freePort() throws -> UInt16 {
            let listener = try StubListener()
            defer { listener.close() }
            return listener.port
        }

        func doctor(
            _ words: String..., environment: [String] = []
        ) async throws -> (status: Int32, findings: [JSONValue], text: String) {
            let result = try await runProcess(
                ["env", "-u", "DATABASE_URL"] + environment + [
                    BrokerProgram.path, "doctor", "--config", configuration, "--ca-file",
                    authority.certificate, "--json",
                ] + words)
            let json = try JSONValue(parsing: Array(result.outputText.utf8.dropLast()))
            return (result.status, json["findings"]?.array ?? [], result.outputText)
        }

        func stop() async {
            provider.signal(SIGTERM)
            _ = await provider.status()
            _ = await broker.stop()
        }
    }

    private func codes(_ findings: [JSONValue], _ level: String) -> Set<String> {
        Set(
            findings.filter { $0["level"]?.string == level && $0["role"] == nil }.compactMap {
                $0["code"]?.string
            })
    }

    @Test func `a provider that accepts the client is ok throughout, and says so when asked`()
        async throws
    {
        let world = try await World()
        let (status, findings, text) = try await world.doctor("--probe")
        #expect(status == 0, "\(text)")
        #expect(codes(findings, "fault").isEmpty)
        #expect(
            codes(findings, "ok").isSuperset(of: [
                "provider.discovered", "jwks.lists_active_key", "probe.accepted", "clock.agrees",
            ]))
        #expect(!text.contains("eyJ"), "no assertion is shown")
        // Without --probe nobody is asked for a token.
        #expect(!codes(try await world.doctor().findings, "ok").contains("probe.accepted"))
        // A proxy of the environment's is nobody's business, and one that is asked for is used.
        let proxy = ["https_proxy=http://127.0.0.1:1", "HTTPS_PROXY=http://127.0.0.1:1"]
        #expect(try await world.doctor(environment: proxy).status == 0)
        let through = try await world.doctor("--use-proxy", environment: proxy)
        #expect(codes(through.findings, "fault").contains("provider.unreachable"))
        // Without the authority's file neither is believed.
        let result = try await BrokerProgram.run(
            "doctor", "--config", world.configuration, "--probe")
        #expect(result.status == 1)
        #expect(result.outputText.contains("provider.tls"))
        #expect(result.outputText.contains("jwks.tls"))
        await world.stop()
    }

    @Test(arguments: [
        ("\"first_party_challenge_enabled\": false", "precondition.first_party_not_enabled"),
        (
            "\"first_party_challenge_enabled\": true, \"own_app_registered\": false",
            "precondition.first_party_requires_own_app"
        ),
        (
            "\"first_party_challenge_enabled\": true, \"dpop_bound_access_tokens\": false",
            "precondition.first_party_requires_dpop"
        ),
    ])
    func `a precondition that the provider misses is told by the provider's own code`(
        client: String, code: String
    ) async throws {
        let world = try await World(client: client)
        let (status, findings, text) = try await world.doctor("--probe")
        #expect(status == 1)
        #expect(codes(findings, "fault") == [code], "\(text)")
        await world.stop()
    }

    @Test func `a provider that has an old key set refuses, and the key is suspected`() async throws
    {
        let authority = try await TestAuthority()
        let old = try await StubHTTPSServer(authority) { _ in .document("{\"keys\":[]}") }
        let world = try await World(keySet: old.origin + "/keys", authority: authority)
        let (status, findings, text) = try await world.doctor("--probe")
        #expect(status == 1)
        #expect(codes(findings, "fault") == ["probe.refused"], "\(text)")
        let probe = findings.first { $0["code"]?.string == "probe.refused" }
        #expect(probe?["detail"]?.string?.contains("most likely: kid") == true)
        await world.stop()
        await old.stop()
    }

    @Test func `a provider that cannot fetch the keys proves nothing`() async throws {
        let other = try await TestAuthority()
        let hidden = try await StubHTTPSServer(other) { _ in .document("{\"keys\":[]}") }
        let world = try await World(keySet: hidden.origin + "/keys")
        let (status, findings, text) = try await world.doctor("--probe")
        #expect(status == 0, "\(text)")
        #expect(codes(findings, "warning").contains("probe.unclear"))
        await world.stop()
        await hidden.stop()
    }

    @Test func `an issuer with another slash is found before and behind the refusal`() async throws
    {
        let world = try await World(issuer: { $0 + "/" })
        let (status, findings, text) = try await world.doctor("--probe")
        #expect(status == 1)
        #expect(
            codes(findings, "fault") == ["provider.issuer_mismatch", "probe.refused"], "\(text)")
        let probe = findings.first { $0["code"]?.string == "probe.refused" }
        #expect(probe?["detail"]?.string?.contains("most likely: aud") == true)
        await world.stop()
    }
}
