import ClientShim
import JOSE
import Testing

@testable import DemoApp

@Suite struct HTTPAttemptTests {
    private func request(
        _ url: String = "https://idp.example/challenge", assertion: String = "a.a.a",
        proof: String = "p.p.p", statement: String? = nil
    ) -> HTTPRequest {
        let form =
            "client_id=app&client_assertion=\(assertion)"
            + (statement.map { "&ceremony_response=\($0)" } ?? "")
        return HTTPRequest(
            method: "POST", url: url,
            headers: [
                HTTPHeader("Content-Type", "application/x-www-form-urlencoded"),
                HTTPHeader("DPoP", proof),
            ], body: .bytes(Array(form.utf8)))
    }

    private func attempt(
        _ history: inout AttemptHistory, _ request: HTTPRequest, _ result: HTTPAttempt.Result
    ) -> HTTPAttempt {
        var attempt = history.begin(request)
        attempt.result = result
        attempt.milliseconds = 5
        history.end(attempt)
        return attempt
    }

    @Test func `R-101-01 the same assertion or proof twice is called by its name`() {
        var history = AttemptHistory()
        let first = attempt(&history, request(statement: "m.m.m"), .requestLost)
        #expect(
            first.text
                == "POST idp.example/challenge: lost on its way after 5 ms, try 1; new assertion,"
                + " new DPoP proof, new proof of the match")
        let second = attempt(
            &history, request(assertion: "b.b.b", proof: "q.q.q", statement: "m.m.m"),
            .answerLost(200))
        #expect(
            second.text
                == "POST idp.example/challenge: answered 200, the answer was lost after 5 ms, try 2;"
                + " new assertion, new DPoP proof, the same proof of the match")
        let third = attempt(&history, request(), .answered(400, code: "invalid_client"))
        #expect(
            third.text
                == "POST idp.example/challenge: 400 invalid_client after 5 ms, try 3; the same"
                + " assertion, the same DPoP proof")
    }

    @Test(arguments: [
        (HTTPAttempt.Result.answered(200, code: nil), 1), (.answered(403, code: nil), 1),
        (.answered(400, code: "use_dpop_nonce"), 2), (.answered(429, code: nil), 2),
        (.answered(503, code: nil), 2), (.cut, 2), (.requestLost, 2), (.answerLost(200), 2),
        (.noAnswer("unreachable"), 2),
    ])
    func `what is not final makes the next attempt a second try`(
        _ result: HTTPAttempt.Result, _ number: Int
    ) {
        var history = AttemptHistory()
        _ = attempt(&history, request(), result)
        #expect(history.begin(request("https://idp.example/token")).number == 1)
        #expect(history.begin(request()).number == number)
        history.startOver()
        #expect(history.begin(request()).number == 1)
    }

    @Test(arguments: [
        ("https://idp.example:8443/token?code=1#x", "idp.example:8443/token"),
        (
            "https://idp.example/.well-known/openid-configuration",
            "idp.example/.well-known/openid-configuration"
        ),
        (
            "https://idp.example/portal/ceremonies/Zm9vYmFyYmF6cXV4MTIz/face-token",
            "idp.example/portal/ceremonies/Zm9v…/face-token"
        ),
    ])
    func `an address is shown without what only the session's owner knows`(
        _ url: String, _ place: String
    ) {
        #expect(Redaction.place(url) == place)
    }

    @Test(arguments: [
        ("{\"error\":\"invalid_grant\"}", "invalid_grant"),
        ("{\"code\":\"rate_limited\"}", "rate_limited"),
        ("{\"error\":\"eyJhbGciOiJFUzI1NiJ9\"}", nil), ("{}", nil), ("no JSON", nil),
    ])
    func `an error code is shown only when it reads as one`(_ body: String, _ code: String?) {
        #expect(Redaction.code(HTTPAnswer(status: 400, body: Array(body.utf8))) == code)
    }

    @Test func `an expired record differs in its expiry alone`() {
        let record = Array(#"{"access_token":"t","expires_at":1764559999,"scope":"openid"}"#.utf8)
        #expect(
            String(decoding: PhoneStore.expired(record), as: UTF8.self)
                == #"{"access_token":"t","expires_at":1,"scope":"openid"}"#)
        let without = Array(#"{"access_token":"t"}"#.utf8)
        #expect(PhoneStore.expired(without) == without)
    }
}
