import ClientShim
import JOSE

/// Enrols a device key at the sandbox provider. Development only: an app runs the registration flow.
struct Enrolment {
    let environment: AuthnEnvironment
    let issuer: String

    func enrol(
        email: String, keyLabel label: String = "device"
    ) async throws(StepFailure) -> Identity {
        let jwk: PublicJWK
        let faceToken: SealedFaceToken
        do {
            jwk = try environment.keyStore.generate(label: label)
            faceToken = try ScriptedFaceEngine.newToken()
        } catch {
            throw StepFailure(step: "enrolment", reason: "\(error)")
        }
        var body = JSONWriter()
        body.object {
            $0.member("email", email)
            $0.name("jwk")
            jwk.write(to: &$0, asSigningKey: false)
            $0.member("face_token", faceToken.expose())
        }
        let outcome = await environment.transport.send(
            HTTPRequest(
                method: "POST", url: issuer + "/sandbox/enrolments",
                headers: [HTTPHeader("Content-Type", "application/json")], body: .bytes(body.bytes))
        )
        guard case .answer(let answer) = outcome, answer.status == 201,
            let json = try? JSONValue(parsing: answer.body), let keyId = json["key_id"]?.string,
            let deviceId = json["device_id"]?.string
        else { throw StepFailure(step: "enrolment", reason: outcome.summary) }
        return Identity(
            keyId: keyId, email: email, keyLabel: label, issuer: issuer, deviceId: deviceId)
    }
}

extension HTTPOutcome {
    /// For a person: the status, or why there is none.
    var summary: String {
        switch self {
        case .answer(let answer): "answered \(answer.status)"
        case .lost(let reason): "no answer: \(reason)"
        case .unsent(let reason): "not sent: \(reason)"
        }
    }
}
