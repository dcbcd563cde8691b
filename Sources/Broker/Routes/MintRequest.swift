import AssertionMint
import JOSE

/// The body of a mint call, read into values that cannot be wrong (`design.md` §3).
struct MintRequest: Sendable {
    /// The largest body that is read, in octets.
    static let maximumLength = 4096

    let clientId: ClientId
    /// As sent; only compared with the client's issuers.
    let audience: String
    let dpopJkt: DpopJkt

    /// - Throws: `malformedRequest` naming the member; `audienceNotAllowed` for an audience that is no string, since an array
    ///   is the mistake that is made most.
    init(_ body: [UInt8]) throws(BrokerError) {
        let json: JSONValue
        do {
            json = try JSONValue(parsing: body)
        } catch {
            throw .malformedRequest("the body is not JSON (\(error.reason.rawValue))")
        }
        guard json.members != nil else { throw .malformedRequest("the body is not a JSON object") }
        guard let clientId = json["client_id"]?.string.flatMap(ClientId.init) else {
            throw .malformedRequest("client_id is missing or malformed")
        }
        guard let dpopJkt = json["dpop_jkt"]?.string.flatMap(DpopJkt.init) else {
            throw .malformedRequest(
                "dpop_jkt must be 43 base64url characters of a SHA-256 thumbprint")
        }
        guard let audience = json["audience"] else {
            throw .malformedRequest("audience is missing")
        }
        guard let audience = audience.string else { throw .audienceNotAllowed }
        self.clientId = clientId
        self.audience = audience
        self.dpopJkt = dpopJkt
    }
}
