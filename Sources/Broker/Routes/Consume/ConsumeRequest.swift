import JOSE

/// The body of a consume call: `client_assertion`, and what else a provider was given with it (RFC 7521 §4.2).
struct ConsumeRequest: Sendable {
    /// The largest body that is read, in octets: the longest JWS that is looked at, and some room around it.
    static let maximumLength = CompactJWS.maximumLength + 2048

    /// RFC 7523 §2.2.
    static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    let assertion: Secret<String>
    /// The only `aud` the caller takes; `nil`: any of the client's issuers.
    let audience: String?

    /// - Throws: `malformedRequest` naming the member. What is wrong with the assertion itself is not this type's to say.
    init(_ body: [UInt8]) throws(BrokerError) {
        let json: JSONValue
        do {
            json = try JSONValue(parsing: body)
        } catch {
            throw .malformedRequest("the body is not JSON (\(error.reason.rawValue))")
        }
        guard json.members != nil else { throw .malformedRequest("the body is not a JSON object") }
        guard let assertion = json["client_assertion"]?.string else {
            throw .malformedRequest("client_assertion is missing or not a string")
        }
        if let type = json["client_assertion_type"], type.string != Self.assertionType {
            throw .malformedRequest("client_assertion_type must be \(Self.assertionType)")
        }
        if let audience = json["audience"], audience.string == nil {
            throw .malformedRequest("audience must be a string: the one issuer that asks")
        }
        self.assertion = Secret(assertion)
        audience = json["audience"]?.string
    }
}
