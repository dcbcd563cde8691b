import AssertionMint
import JOSE
import SocketServer

/// The answer to a good mint call.
struct MintReply: Sendable {
    let kind: TokenKind
    let token: Secret<String>
    let jti: JTI
    let times: AssertionTimes
    /// Seconds since 1970 UTC at which the answer is made.
    let now: Int64
    let limit: LimitFields

    func response() -> HTTPResponse {
        var json = JSONWriter(capacity: 900)
        json.object {
            $0.member(kind.rawValue, token.expose())
            if kind == .clientAssertion {
                $0.member(
                    "client_assertion_type",
                    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
            }
            $0.member("jti", jti.rawValue)
            $0.member("expires_in", max(0, times.expiresAt - now))
            $0.member("expires_at", times.expiresAt)
        }
        var headers = limit.headers
        headers.append(("Content-Type", "application/json"))
        headers.append(("Cache-Control", "no-store"))
        return HTTPResponse(status: 200, headers: headers, body: json.bytes)
    }
}

/// The rate limit an answer tells about (draft-ietf-httpapi-ratelimit-headers).
struct LimitFields: Sendable {
    let policy: RatePolicy
    let remaining: Int
    let resetMicroseconds: Int64

    var headers: [(name: String, value: String)] {
        // Appended piece by piece: it is done for every answer, and interpolation takes several times as long.
        let name = "\"" + policy.name + "\";"
        var described = name
        described += "q="
        described += String(policy.burst)
        described += ";w="
        described += String(
            Problem.wholeSeconds(Int64(policy.burst) * policy.stepMicroseconds))
        var left = name
        left += "r="
        left += String(remaining)
        left += ";t="
        left += String((resetMicroseconds + 999_999) / 1_000_000)
        return [("RateLimit-Policy", described), ("RateLimit", left)]
    }
}
