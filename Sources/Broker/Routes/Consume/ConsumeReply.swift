import AssertionMint
import JOSE
import SocketServer

/// The answer to the first use of a good assertion.
struct ConsumeReply: Sendable {
    let assertion: VerifiedClientAssertion

    func response() -> HTTPResponse {
        var json = JSONWriter()
        json.object {
            $0.member("client_id", assertion.clientId.rawValue)
            $0.member("jti", assertion.jti.rawValue)
            $0.member("audience", assertion.audience.rawValue)
            $0.member("issued_at", assertion.times.issuedAt)
            $0.member("expires_at", assertion.times.expiresAt)
            if let jkt = assertion.dpopJkt { $0.member("dpop_jkt", jkt.rawValue) }
        }
        return HTTPResponse(
            status: 200,
            headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
            body: json.bytes)
    }
}
