import JOSE
import Testing

@testable import ClientShim

@Suite struct RequestURLTests {
    /// cases.md "Htu form".
    @Test(
        arguments: [
            ("https://API.example:443/a/b/?x=1#f", "https://api.example/a/b/"),
            ("HTTPS://api.example/a/b", "https://api.example/a/b"),
            ("https://api.example", "https://api.example/"),
            ("https://api.example?x", "https://api.example/"),
            ("https://api.example:8443/", "https://api.example:8443/"),
            ("https://[2001:DB8::1]/a", "https://[2001:db8::1]/a"),
            ("https://user@api.example/a", "https://api.example/a"),
            ("https://user:pass@api.example:443/A%2fb", "https://api.example/A%2fb"),
            ("https://api.example/a@b", "https://api.example/a@b"),
        ])
    func `htu is scheme, host, port and path, and the path is untouched`(
        _ url: String, _ htu: String
    ) throws {
        #expect(try #require(RequestURL(url)).target.htu == htu)
    }

    @Test(
        arguments: [
            "", "https://", "https:///a", "api.example/a", "ftp://a/", "https://a b/",
            "https://a:b/",
            "https://a:70000/", "https://a/\u{e4}", "https://a@/", "https://[::1/",
        ])
    func `anything else is no URL`(_ url: String) {
        #expect(RequestURL(url) == nil)
    }

    @Test(arguments: ["http://localhost:1/", "http://127.0.0.1/", "http://[::1]:8080/"])
    func `R-100-25 http is for loopback only, and only when allowed`(_ url: String) throws {
        let url = try #require(RequestURL(url))
        #expect(!url.isAllowed(insecureLoopback: false))
        #expect(url.isAllowed(insecureLoopback: true))
        for other in ["http://127.0.0.1.example/", "http://localhost.example/", "http://10.0.0.1/"]
        {
            #expect(try !#require(RequestURL(other)).isAllowed(insecureLoopback: true))
        }
    }
}
