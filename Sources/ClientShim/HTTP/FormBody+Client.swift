import JOSE

extension FormBody {
    static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    /// `client_id`, and the assertion when there is one; no other client authentication (R-101-08).
    mutating func addClient(_ clientId: String, _ assertion: Secret<String>?) {
        add("client_id", clientId)
        guard let assertion else { return }
        add("client_assertion_type", Self.assertionType)
        add("client_assertion", assertion.expose())
    }
}
