import ClientShim
import JOSE

/// The administrator's side of the sandbox provider. Reached past the phone's network.
struct Console: Sendable {
    let issuer: String
    let transport: any HTTPTransport

    /// - Parameter status: `good` or `revoked`.
    func setKey(_ keyId: String, to status: String) async throws(CommandFault) {
        var body = JSONWriter()
        body.object {
            $0.member("key_id", keyId)
            $0.member("status", status)
        }
        let outcome = await transport.send(
            HTTPRequest(
                method: "POST", url: issuer + "/sandbox/keys",
                headers: [HTTPHeader("Content-Type", "application/json")], body: .bytes(body.bytes))
        )
        guard case .answer(let answer) = outcome, answer.status == 204 else {
            throw CommandFault("the provider's console did not do it: \(outcome.summary)")
        }
    }
}
