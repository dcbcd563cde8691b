import AssertionMint
import JOSE
import SocketServer

/// The answer to a good mint call.
struct MintReply: Sendable {
    let assertion: Secret<String>
    let jti: JTI
    let times: AssertionTimes
    /// Seconds since 1970 UTC at which the answer is made.
    let now: Int64
    let limit: LimitFields

    func response() -> HTTPResponse {
        var json = JSONWriter(capacity: 900)
        json.object {
            $0.member("client_assertion", assertion.expose())
            $0.member(
                "client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
            $0.member("jti", jti.rawValue)
            $0.member("expires_in", max(0, times.expiresAt - now))
            $0.member("expires_at", times.expiresAt)
        }
        return HTTPResponse(
            status: 200,
            headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
                + limit.headers,
            body: json.bytes)
    }
}

/// The rate limit an answer tells about (draft-ietf-httpapi-ratelimit-headers).
struct LimitFields: Sendable {
    let policy: RatePolicy
    let remaining: Int
    let resetMicroseconds: Int64

    var headers: [(name: String, value: String)] {
        let window = Problem.wholeSeconds(Int64(policy.burst) * policy.stepMicroseconds)
        return [
            ("RateLimit-Policy", "\"\(policy.name)\";q=\(policy.burst);w=\(window)"),
            (
                "RateLimit",
                "\"\(policy.name)\";r=\(remaining);t=\((resetMicroseconds + 999_999) / 1_000_000)"
            ),
        ]
    }
}
