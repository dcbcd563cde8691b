import JOSE
import SocketServer

/// `POST /sandbox/enrolments`, for development only: enrols a device key without the registration flow. Whoever can
/// reach the sandbox may enrol anybody, which is one reason why it is never part of a deployment.
struct EnrolmentEndpoint: Sendable {
    let environment: Environment
    let state: SharedState

    func answer(_ request: HTTPRequest) throws(OAuthFault) -> HTTPResponse {
        let json: JSONValue
        do { json = try JSONValue(parsing: request.body) } catch {
            throw .invalidRequest(.malformedJSON)
        }
        guard json.members != nil else { throw .invalidRequest(.malformedJSON) }
        let enrolment = try enrolment(json)
        guard let stored = state.change({ $0.directory.enrol(enrolment) }) else {
            throw .invalidRequest(.malformed("jwk"))
        }
        return .json(201) {
            $0.member("key_id", stored.keyId)
            $0.member("device_id", stored.deviceId)
        }
    }

    private func enrolment(_ json: JSONValue) throws(OAuthFault) -> Enrolment {
        guard let email = json["email"]?.string, Directory.isAddress(email) else {
            throw .invalidRequest(.malformed("email"))
        }
        guard let faceToken = json["face_token"]?.string, !faceToken.isEmpty else {
            throw .invalidRequest(.malformed("face_token"))
        }
        guard let member = json["jwk"], let jwk = try? PublicJWK(member), jwk.algorithm == .ES256,
            let key = try? PublicKey(jwk)
        else { throw .invalidRequest(.malformed("jwk")) }
        guard json["password_protected"].map({ $0.bool != nil }) ?? true else {
            throw .invalidRequest(.malformed("password_protected"))
        }
        return Enrolment(
            keyId: jwk.thumbprint, email: Directory.normalized(email),
            subject: try environment.identifier(), deviceId: try environment.identifier(),
            key: key, faceToken: faceToken,
            isPasswordProtected: json["password_protected"]?.bool ?? false)
    }
}
