import Dispatch
import JOSE
import Synchronization
import TestKit
import Testing

@testable import ClientShim

/// The table of R-101 §2.3, against a scripted broker that verifies proofs for real.
@Suite struct BrokerAssertionProviderTests {
    private let clock = ManualClock()
    private let keyStore = InMemoryKeyStore()
    private let jwk: PublicJWK

    init() throws {
        _ = try keyStore.generate(label: "another")
        jwk = try keyStore.generate(label: "dpop-1")
    }

    private var request: ClientAssertionRequest {
        ClientAssertionRequest(
            clientId: "app", audience: "https://idp.example", dpopJkt: jwk.thumbprint)
    }

    private func problem(
        _ status: Int, _ code: String, _ headers: [HTTPHeader] = []
    ) -> HTTPOutcome {
        .answer(
            HTTPAnswer(
                status: status, headers: headers, body: Array(#"{"code":"\#(code)"}"#.utf8)))
    }

    private var served: HTTPOutcome {
        .answer(HTTPAnswer(status: 200, body: Array(#"{"client_assertion":"a.b.c"}"#.utf8)))
    }

    /// A provider whose broker gives these outcomes in order.
    private func provider(
        _ outcomes: [HTTPOutcome], credential: BrokerCredential = .dpop,
        url: String = "https://broker.example"
    ) -> (BrokerAssertionProvider, ScriptedTransport) {
        let rest = Mutex(outcomes)
        let transport = ScriptedTransport { _ in
            rest.withLock { $0.isEmpty ? .lost(.broken) : $0.removeFirst() }
        }
        let environment = AuthnEnvironment(
            keyStore: keyStore, store: InMemorySecureStore(), transport: transport,
            faceEngine: ScriptedFaceEngine(), clock: clock)
        return (
            BrokerAssertionProvider(
                brokerURL: url, environment: environment, credential: credential), transport
        )
    }

    /// On a thread of its own, as the SDK calls it.
    private func mint(_ provider: BrokerAssertionProvider) async -> Result<String, any Error> {
        let slot = FirstAnswer<Result<String, any Error>>()
        let request = request
        DispatchQueue(label: "test").async {
            slot.fill(Result { try provider.clientAssertion(request: request) })
        }
        return await slot.value()
    }

    private func details(_ result: Result<String, any Error>) -> String? {
        guard case .failure(ClientAssertionError.Unavailable(let details)) = result else {
            return nil
        }
        return details
    }

    @Test func `the dpop gate: one request with a proof by the install key for the broker's URL`()
        async throws
    {
        let (provider, transport) = provider([served])
        #expect(try await mint(provider).get() == "a.b.c")
        let sent = try #require(transport.requests.first)
        #expect(sent.method == "POST")
        #expect(sent.url == "https://broker.example/v1/assertions")
        guard case .bytes(let body) = sent.body else { return }
        let json = try JSONValue(parsing: body)
        #expect(json["client_id"]?.string == "app")
        #expect(json["audience"]?.string == "https://idp.example")
        #expect(json["dpop_jkt"]?.string == jwk.thumbprint)
        let proof = try DPoPVerifier().verify(
            sent.header("DPoP")[0], method: "POST",
            uri: try #require(HTTPTargetURI("https://broker.example/v1/assertions")),
            now: clock.now(), acceptsNonce: { $0 == nil })
        #expect(proof.jkt.rawValue == jwk.thumbprint)
        #expect(sent.header("Authorization").isEmpty)
    }

    @Test func `R-101-23 the same request twice asks twice, with two proofs`() async {
        let (provider, transport) = provider([served, served])
        _ = await mint(provider)
        _ = await mint(provider)
        #expect(Set(transport.requests.map { $0.header("DPoP")[0] }).count == 2)
    }

    @Test func `use_dpop_nonce is repeated once with the new nonce, which is kept`() async throws {
        let challenge = problem(401, "use_dpop_nonce", [HTTPHeader("DPoP-Nonce", "n1")])
        let (provider, transport) = provider([challenge, served, served])
        #expect(try await mint(provider).get() == "a.b.c")
        #expect(try await mint(provider).get() == "a.b.c")
        let nonces = transport.requests.map { $0.proofClaims?["nonce"]?.string }
        #expect(nonces == [nil, "n1", "n1"])
    }

    @Test func `a second challenge throws`() async {
        let (provider, transport) = provider([
            problem(401, "use_dpop_nonce", [HTTPHeader("DPoP-Nonce", "n1")]),
            problem(401, "use_dpop_nonce", [HTTPHeader("DPoP-Nonce", "n2")]), served,
        ])
        #expect(details(await mint(provider))?.contains("use_dpop_nonce") == true)
        #expect(transport.requests.count == 2)
    }

    @Test(
        arguments: [
            (400, "invalid_request"), (400, "invalid_audience"), (413, "too_large"),
            (415, "unsupported_media_type"), (401, "invalid_dpop_proof"),
            (401, "caller_unauthenticated"), (401, "use_dpop_nonce"), (403, "caller_not_allowed"),
            (403, "install_blocked"), (404, "unknown_client"), (503, "unavailable"), (500, "x"),
            (307, "moved"),
        ])
    func `every other answer throws, names the code, and is asked once`(
        _ status: Int, _ code: String
    ) async {
        let (provider, transport) = provider([problem(status, code), served])
        let details = details(await mint(provider))
        #expect(details?.contains("\(status)") == true)
        #expect(details?.contains(code) == true)
        #expect(transport.requests.count == 1)
    }

    @Test func `R-101-28 no answer throws at once`() async {
        let (provider, transport) = provider([.lost(.timedOut), served])
        #expect(details(await mint(provider)) != nil)
        #expect(transport.requests.count == 1)
    }

    @Test(arguments: ["", "{}", #"{"client_assertion":7}"#, "<html>"])
    func `a 200 without an assertion throws`(_ body: String) async {
        let (provider, _) = provider([.answer(HTTPAnswer(status: 200, body: Array(body.utf8)))])
        #expect(details(await mint(provider)) != nil)
    }

    @Test func `R-101-27 while a 429's time has not passed nothing is sent`() async throws {
        let limited = problem(429, "rate_limited", [HTTPHeader("Retry-After", "30")])
        let (provider, transport) = provider([limited, served])
        #expect(details(await mint(provider))?.contains("again in 30 s") == true)
        clock.advance(seconds: 29)
        #expect(details(await mint(provider))?.contains("another 1 s") == true)
        #expect(transport.requests.count == 1)
        clock.advance(seconds: 1)
        #expect(try await mint(provider).get() == "a.b.c")
    }

    @Test func `R-101-27 R-100-27 a 429's time may be a date`() async {
        let date = FakeProvider.date(clock.now() + 30)
        let (provider, transport) = provider([
            problem(429, "rate_limited", [HTTPHeader("Retry-After", date)]), served,
        ])
        #expect(details(await mint(provider))?.contains("again in 30 s") == true)
        clock.advance(seconds: 29)
        #expect(details(await mint(provider)) != nil)
        #expect(transport.requests.count == 1)
    }

    @Test func `a 503's Retry-After is told but does not stop the next call`() async throws {
        let down = problem(503, "unavailable", [HTTPHeader("Retry-After", "30")])
        let (provider, _) = provider([down, served])
        #expect(details(await mint(provider))?.contains("again in 30 s") == true)
        #expect(try await mint(provider).get() == "a.b.c")
    }

    @Test func `the backend gate sends the token and no proof`() async throws {
        let (provider, transport) = provider([served], credential: .backendToken(Secret("tok")))
        #expect(try await mint(provider).get() == "a.b.c")
        #expect(transport.requests[0].header("Authorization") == ["Bearer tok"])
        #expect(transport.requests[0].header("DPoP").isEmpty)
    }

    @Test(arguments: ["http://broker.example", "broker.example", "", "http://127.0.0.1:1"])
    func `R-100-25 a URL that is not https is refused before anything is sent`(
        _ url: String
    ) async {
        let (provider, transport) = provider([served], url: url)
        #expect(details(await mint(provider)) != nil)
        #expect(transport.requests.isEmpty)
    }

    @Test func `a thumbprint of no key here is refused before anything is sent`() async throws {
        let (provider, transport) = provider([served])
        try keyStore.delete(label: "dpop-1")
        #expect(details(await mint(provider)) != nil)
        #expect(transport.requests.isEmpty)
    }
}
