import AssertionMint
import SocketServer
import Testing

@testable import Broker

@Suite struct RouteTests {
    func route(_ method: String, _ path: String) -> Result<Route, BrokerError> {
        do { return .success(try Route(HTTPRequestHead(method: method, path: path))) } catch {
            return .failure(error)
        }
    }

    @Test func `each path has its methods`() throws {
        #expect(route("POST", "/v1/assertions") == .success(.mint(.clientAssertion)))
        #expect(route("POST", "/v1/transport-tokens") == .success(.mint(.transportToken)))
        #expect(route("POST", "/v1/client-attestations") == .success(.mint(.clientAttestation)))
        #expect(route("POST", "/v1/assertions/consume") == .success(.consume))
        let app = try #require(ClientId("app"))
        for method in ["GET", "HEAD"] {
            #expect(route(method, "/healthz") == .success(.liveness))
            #expect(route(method, "/readyz") == .success(.readiness))
            #expect(route(method, "/openapi.json") == .success(.description))
            #expect(route(method, "/v1/clients/app/jwks.json") == .success(.keySet(app)))
        }
    }

    @Test(arguments: [
        ("GET", "/v1/assertions", "POST"), ("HEAD", "/v1/assertions", "POST"),
        ("PUT", "/v1/assertions", "POST"), ("GET", "/v1/assertions/consume", "POST"),
        ("OPTIONS", "/v1/assertions", "POST"), ("GET", "/v1/transport-tokens", "POST"),
        ("PUT", "/v1/client-attestations", "POST"),
        ("POST", "/healthz", "GET, HEAD"), ("DELETE", "/readyz", "GET, HEAD"),
        ("POST", "/v1/clients/app/jwks.json", "GET, HEAD"),
    ])
    func `another method is told which there are`(method: String, path: String, allow: String) {
        #expect(route(method, path) == .failure(.methodNotAllowed(allow: allow)))
    }

    @Test(arguments: [
        "/", "*", "/v1", "/v1/assertions/consume/", "/v1/assertions/Consume",
        "/v1/transport-tokens/", "/v1/transport_tokens", "/v1/client-attestations/consume",
        "/v1/Transport-Tokens", "/v1/assertions/", "//v1/assertions", "/V1/assertions",
        "/v1/Assertions",
        "/v1/%61ssertions", "/healthz/", "/metrics", "/v1/clients//jwks.json",
        "/v1/clients/app/jwks", "/v1/clients/app/x/jwks.json", "/v1/clients/app/jwks.json/",
        "/v1/clients/a%20b/jwks.json", "/v1/clients/%C3%A9/jwks.json", "/v1/clients/%FF/jwks.json",
        "/v1/clients/%0d%0a/jwks.json", "/v1/clients/%+5/jwks.json", "/v1/clients/%4/jwks.json",
        "/v1/clients/\(String(repeating: "a", count: 129))/jwks.json", "/v2/assertions",
        "/v1/clients/{client_id}", "/openapi.yaml", "/openapi.json/",
    ])
    func `any other path is not found`(_ path: String) {
        #expect(route("GET", path) == .failure(.notFound))
    }

    @Test(arguments: [
        ("/v1/clients/a%2Fb/jwks.json", "a/b"), ("/v1/clients/%61pp/jwks.json", "app"),
        ("/v1/clients/https:%2F%2Fapp.example%2Fx/jwks.json", "https://app.example/x"),
        ("/v1/clients/a%252Fb/jwks.json", "a%2Fb"), ("/v1/clients/a+b/jwks.json", "a+b"),
    ])
    func `a client id is decoded exactly once`(path: String, id: String) throws {
        #expect(route("GET", path) == .success(.keySet(try #require(ClientId(id)))))
    }
}
