import AssertionMint
import HTTPClient
import JOSE
import Testing

@testable import Broker

@Suite struct ProviderMetadataTests {
    private func metadata(
        of issuer: String = Sample.issuer, _ answers: @escaping @Sendable (String) -> HTTPOutcome
    ) async throws -> Result<ProviderMetadata, ProviderMetadata.Fault> {
        let issuer = try #require(Issuer(issuer))
        do throws(ProviderMetadata.Fault) {
            return .success(try await .of(issuer, StubProvider { answers($0.url) }.fetch))
        } catch {
            return .failure(error)
        }
    }

    private func fault(_ answer: HTTPOutcome) async throws -> ProviderMetadata.Fault? {
        guard case .failure(let fault) = try await metadata({ _ in answer }) else { return nil }
        return fault
    }

    @Test(arguments: [
        (
            "https://idp.example", "https://idp.example/.well-known/openid-configuration",
            "https://idp.example/.well-known/oauth-authorization-server"
        ),
        (
            "https://idp.example/", "https://idp.example/.well-known/openid-configuration",
            "https://idp.example/.well-known/oauth-authorization-server"
        ),
        (
            "https://idp.example:8443/t1/",
            "https://idp.example:8443/t1/.well-known/openid-configuration",
            "https://idp.example:8443/.well-known/oauth-authorization-server/t1"
        ),
    ])
    func `the two places of the document`(issuer: String, openId: String, oauth: String) throws {
        let places = ProviderMetadata.locations(of: try #require(Issuer(issuer)))
        #expect(places == (openId, oauth))
    }

    @Test func `the second place is looked at when the first has nothing`() async throws {
        let found = try await metadata {
            $0.hasSuffix("openid-configuration")
                ? StubProvider.answer(404, "")
                : StubProvider.answer(
                    200, #"{"issuer":"\#(Sample.issuer)","token_endpoint":"https://idp.example/t"}"#
                )
        }
        let metadata = try found.get()
        #expect(metadata.url == "https://idp.example/.well-known/oauth-authorization-server/t1")
        #expect(metadata.endpoint("token_endpoint")?.url == "https://idp.example/t")
        #expect(metadata.endpoint("revocation_endpoint") == nil)
    }

    @Test func `what is not this issuer's metadata is refused, and says where it was found`()
        async throws
    {
        let url = ProviderMetadata.locations(of: try #require(Issuer(Sample.issuer))).openId
        typealias Stub = StubProvider
        #expect(try await fault(.lost(.timedOut)) == .noAnswer(url: url, .timedOut))
        #expect(try await fault(.unsent(.insecure)) == .noAnswer(url: url, .insecure))
        #expect(try await fault(Stub.answer(302, "")) == .status(url: url, 302))
        #expect(
            try await fault(Stub.answer(200, "{}", isOversized: true)) == .oversized(url: url))
        for text in ["<html>", "[]", "", #"{"issuer":1,"issuer":2}"#] {
            #expect(try await fault(Stub.answer(200, text)) == .noJSONObject(url: url))
        }
        #expect(
            try await fault(Stub.answer(200, "{}")) == .otherIssuer(url: url, found: nil))
        for other in [Sample.issuer + "/", "https://IDP.example/t1", "https://idp.example"] {
            #expect(
                try await fault(Stub.answer(200, #"{"issuer":"\#(other)"}"#))
                    == .otherIssuer(url: url, found: other))
        }
    }

    @Test(arguments: [
        "http://idp.example/t", "ftp://idp.example/t", "https://idp.example/t#x", "/t", "",
        "https://user@idp.example/t",
    ])
    func `an endpoint that no client may use is none`(text: String) {
        #expect(ProviderEndpoint(text, takesPlain: true) == nil)
    }

    @Test(arguments: ["http://127.0.0.1:8080/t", "http://[::1]/t", "http://localhost/t"])
    func
        `plain http is for a provider that is plain itself, so none can choose a service of this machine`(
            text: String
        ) throws
    {
        #expect(ProviderEndpoint(text, takesPlain: true) != nil)
        #expect(ProviderEndpoint(text, takesPlain: false) == nil)
        let secure = ProviderMetadata(
            url: "https://idp.example/.well-known/openid-configuration",
            document: try JSONValue(parsing: Array(#"{"token_endpoint":"\#(text)"}"#.utf8)))
        #expect(secure.endpoint("token_endpoint") == nil)
    }
}
