import JOSE
import Testing

@Suite struct HTTPTargetURITests {
    /// Cases, dpop "Htu form".
    @Test(arguments: [
        ("https://API.example:443/a/b/?x=1#f", "https://api.example/a/b/"),
        ("HTTPS://api.example/a/b", "https://api.example/a/b"),
        ("https://api.example", "https://api.example/"),
        ("https://api.example:8443/", "https://api.example:8443/"),
        ("https://[2001:DB8::1]/a", "https://[2001:db8::1]/a"),
        ("https://[2001:DB8::1]:443/a", "https://[2001:db8::1]/a"),
        ("https://[2001:DB8::1]:444", "https://[2001:db8::1]:444/"),
        ("http://api.example:80/a", "http://api.example/a"),
        ("http://api.example:443/a", "http://api.example:443/a"),
        ("https://api.example:80/", "https://api.example:80/"),
        ("https://api.example?x", "https://api.example/"),
        ("https://api.example#x", "https://api.example/"),
        ("https://api.example?x=/a#y?z", "https://api.example/"),
        ("https://api.example:/a", "https://api.example/a"),
        ("https://api.example/A/%2f/%7Eb//c/.", "https://api.example/A/%2f/%7Eb//c/."),
        ("https://api.example/a?redirect=https://b.example/", "https://api.example/a"),
        ("https://127.0.0.1:00443/", "https://127.0.0.1/"),
    ])
    func `a client's htu: scheme and host lower, no default port, no query, path untouched`(
        text: String, htu: String
    ) throws {
        #expect(try #require(HTTPTargetURI(text)).htu == htu)
    }

    @Test(arguments: [
        "https://user@api.example/a", "https://user:pw@api.example/a", "https://@api.example/",
        "ftp://api.example/", "//api.example/",
        "/a", "api.example", "https:api.example", "https:/api.example", "https://", "https:///a",
        "https://?x", "https://:443/",
        "https://api.example:65536/", "https://api.example:0/", "https://api.example:-1/",
        "https://api.example:+1/",
        "https://api.example:4a/", "https://api.example:443:443/", "https://api.example:000443/",
        "https://api .example/",
        "https://api.example/a b", " https://api.example/", "https://api.example/\n",
        "https://api.example/\u{0}",
        "https://api.example/é", "https://ápi.example/", "https://api%2eexample/",
        "https://api.example/%", "https://api.example/%2",
        "https://api.example/%zz", "https://api.example/%2g", "https://[::1/", "https://::1]/",
        "https://[]/", "https://[::1]x/",
        "https://[::1]:a/", "https://[fe80::1%25eth0]/", "https://a[::1]/",
        "https://api.example\\@evil.example/", "https://api.example/<a>",
        "https://api.example/\"", "https://api.example/`", "https://api.example/{a}",
        "https://api.example/a|b", "https://api.example/a^b",
        "", "https://api,example/", "https://api.example/\u{7f}",
    ])
    func `what is no absolute http URI, or has user information, is refused`(text: String) {
        #expect(HTTPTargetURI(text) == nil)
    }

    /// Standards §4.3: syntax- and scheme-based normalisation on both sides.
    @Test(arguments: [
        ("https://api.example/a/./b", "https://api.example/a/b"),
        ("https://api.example/a/../b", "https://api.example/b"),
        ("https://api.example/../../b", "https://api.example/b"),
        ("https://api.example/a/b/..", "https://api.example/a/"),
        ("https://api.example/a/b/.", "https://api.example/a/b/"),
        ("https://api.example/..", "https://api.example/"),
        ("https://api.example/.", "https://api.example/"),
        ("https://api.example/a/%2e%2E/b", "https://api.example/b"),
        ("https://api.example/%7eb%2D", "https://api.example/~b-"),
        ("https://api.example/%c3%a9", "https://api.example/%C3%A9"),
        ("https://api.example/a%2fb", "https://api.example/a%2Fb"),
        ("https://api.example/%41", "https://api.example/A"),
        ("https://api.example//a//b", "https://api.example//a//b"),
        ("https://api.example/a/..//b", "https://api.example//b"),
        ("https://api.example", "https://api.example/"),
        ("https://api.example/...", "https://api.example/..."),
        ("https://api.example/%25%32%65", "https://api.example/%252e"),
        ("https://api.example/a;p=1,2", "https://api.example/a;p=1,2"),
    ])
    func `a server compares after RFC 3986 §6.2.2 and §6.2.3`(text: String, normalized: String)
        throws
    {
        #expect(try #require(HTTPTargetURI(text)).normalized == normalized)
    }

    @Test(arguments: [
        ("https://api.example/a", "https://api.example/a/"),
        ("https://api.example/a", "https://api.example/A"),
        ("https://api.example/a%2Fb", "https://api.example/a/b"),
        ("https://api.example/a", "http://api.example/a"),
        ("https://api.example/a", "https://api.example:8443/a"),
        ("https://api.example/a", "https://api.example./a"),
        ("https://api.example/a", "https://xapi.example/a"),
        ("https://api.example/a", "https://api.example//a"),
        ("https://api.example/%252e", "https://api.example/%2e"),
    ])
    func `different resources stay different`(one: String, other: String) throws {
        #expect(
            try #require(HTTPTargetURI(one)).normalized != #require(HTTPTargetURI(other)).normalized
        )
    }

    @Test(arguments: [
        "https://API.example/a/../%7eb", "http://[2001:DB8::1]:81/%2f/./c?x", "https://api.example",
    ])
    func `normalising twice changes nothing`(text: String) throws {
        let once = try #require(HTTPTargetURI(text))
        let twice = try #require(HTTPTargetURI(once.normalized))
        #expect(twice.normalized == once.normalized)
        #expect(twice.htu == once.normalized)
        #expect(try #require(HTTPTargetURI(once.htu)).htu == once.htu)
    }

    /// Cases, dpop "Nonce kept by origin".
    @Test(arguments: [
        ("https://idp.example", "https://idp.example:443"),
        ("https://API.example:443/x?y", "https://api.example:443"),
        ("https://api.example:8443/", "https://api.example:8443"),
        ("http://api.example", "http://api.example:80"),
    ])
    func `an origin is scheme, host and effective port`(text: String, origin: String) throws {
        #expect(try #require(HTTPTargetURI(text)).origin == origin)
    }

    @Test func `scheme and host by themselves`() throws {
        let uri = try #require(HTTPTargetURI("HTTP://[2001:DB8::1]:81/"))
        #expect(!uri.isSecure)
        #expect(uri.host == "[2001:db8::1]")
    }
}
