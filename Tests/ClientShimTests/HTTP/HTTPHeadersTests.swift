import TestKit
import Testing

@testable import ClientShim

@Suite struct RetryAfterTests {
    private func seconds(_ headers: (String, String)...) -> Int? {
        RetryAfter.seconds(
            in: HTTPAnswer(status: 503, headers: headers.map { HTTPHeader($0.0, $0.1) }),
            now: 1_800_000_000)
    }

    @Test func `R-100-27 both forms are understood and capped at an hour`() {
        #expect(seconds(("Retry-After", "0")) == 0)
        #expect(seconds(("retry-after", "120")) == 120)
        #expect(seconds(("Retry-After", "3601")) == 3600)
        #expect(seconds(("Retry-After", "99999999999999999999999")) == 3600)
        #expect(seconds(("Retry-After", FakeProvider.date(1_800_000_030))) == 30)
        #expect(seconds(("Retry-After", FakeProvider.date(1_700_000_000))) == 0)
        #expect(seconds(("Retry-After", FakeProvider.date(1_900_000_000))) == 3600)
    }

    @Test func `a date counts from the peer's own`() {
        #expect(
            seconds(
                ("Retry-After", FakeProvider.date(1_900_000_030)),
                ("Date", FakeProvider.date(1_900_000_000))) == 30)
    }

    @Test(arguments: ["", "-1", "1.5", "soon", "+5", "1e3", " 5"])
    func `anything else is no wait`(_ text: String) {
        #expect(seconds(("Retry-After", text)) == nil)
    }

    @Test func `two of them are none`() {
        #expect(seconds(("Retry-After", "1"), ("Retry-After", "2")) == nil)
    }
}

@Suite struct HTTPDateTests {
    @Test func `the example of RFC 9110 is read`() {
        #expect(HTTPDate.seconds("Sun, 06 Nov 1994 08:49:37 GMT") == 784_111_777)
    }

    @Test(arguments: 0..<500)
    func `agrees with counting days one by one`(_ index: Int64) {
        let seconds = index * 8_640_007 + index
        #expect(HTTPDate.seconds(FakeProvider.date(seconds)) == seconds)
    }

    @Test(
        arguments: [
            "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT x", "Sun, 06 Nov 1894 08:49:37 GMT",
        ])
    func `any other form is not read`(_ text: String) {
        #expect(HTTPDate.seconds(text) == nil)
    }
}

@Suite struct AuthenticateChallengeTests {
    @Test(
        arguments: [
            (#"DPoP error="use_dpop_nonce""#, "use_dpop_nonce"),
            (#"dpop ERROR=invalid_token , algs="ES256 PS256""#, "invalid_token"),
            (#"Bearer realm="a, b", DPoP realm="x" , error="invalid_token""#, "invalid_token"),
            (#"Negotiate YWJj==, DPoP error="invalid_token""#, "invalid_token"),
            (#"Basic realm="x", DPoP , , error="y""#, "y"),
            (#", , DPoP error="a\"b""#, #"a"b"#),
            (#"DPoP error="a", error="b""#, "a"),
            (#"DPoP algs="ES256", DPoP error="a""#, "a"),
        ])
    func `the error of the DPoP challenge is found by the grammar`(
        _ field: String, _ error: String
    ) {
        #expect(AuthenticateChallenge.dpopError(in: [field]) == error)
    }

    @Test(
        arguments: [
            "", "DPoP", "Bearer error=\"use_dpop_nonce\"", #"DPoP realm="error=use_dpop_nonce""#,
            #"DPoP error="unfinished"#, #"Bearer realm="DPoP error=\"x\"""#, #"XDPoP error="x""#,
            #"DPoP error_description="error""#,
        ])
    func `an error that is not the DPoP challenge's own is none`(_ field: String) {
        #expect(AuthenticateChallenge.dpopError(in: [field]) == nil)
    }

    @Test func `challenges may come in several fields`() {
        #expect(
            AuthenticateChallenge.dpopError(in: [#"Bearer error="x""#, #"DPoP error="y""#]) == "y")
    }
}

@Suite struct FormBodyTests {
    @Test func `agrees with Python's parser about every character`() async throws {
        let value = (1..<0x250).compactMap { Unicode.Scalar($0).map(String.init) }.joined() + "€ 🔑"
        var form = FormBody()
        form.add("a b&=", value)
        form.add("none", nil)
        form.add("empty", "")
        let script = """
            import sys, urllib.parse
            pairs = urllib.parse.parse_qsl(sys.stdin.read(), keep_blank_values=True, strict_parsing=True)
            sys.stdout.buffer.write(repr([(n, v.encode().hex()) for n, v in pairs]).encode())
            """
        let answer = try await runChecked(["python3", "-c", script], input: form.bytes)
        let hex = value.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(String(decoding: answer, as: UTF8.self) == "[('a b&=', '\(hex)'), ('empty', '')]")
    }
}
