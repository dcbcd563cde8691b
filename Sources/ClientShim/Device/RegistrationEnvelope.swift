import JOSE

/// The JSON around the signed request that completes a registration (R-100-53): whatever changes in it between two attempts,
/// the signed bytes stay the same (R-100-51).
struct RegistrationEnvelope: Sendable {
    static let contentType = "application/json"

    /// The compact JWS, signed once.
    let request: Secret<String>
    /// Platform evidence, when there is any.
    var attestation: String?
    /// Whether the user agreed that this key takes the place of another device's.
    var confirmsReplacement = false

    /// What goes on the wire.
    var bytes: [UInt8] {
        var json = JSONWriter(capacity: 1024)
        json.object {
            $0.member("request", request.expose())
            if let attestation { $0.member("attestation", attestation) }
            if confirmsReplacement { $0.member("confirm_replacement", true) }
        }
        return json.bytes
    }
}
