import JOSE
import TestKit

@testable import ClientShim

extension FakeProvider {
    /// What a good proof says.
    struct Proof {
        let jkt: String
        let claims: JSONValue
    }

    /// Verifies the proof for real, and notes one that comes a second time.
    func checkProof(_ request: HTTPRequest, _ state: inout State) -> Proof? {
        let texts = request.headers.filter { $0.name.lowercased() == "dpop" }.map(\.value)
        guard texts.count == 1, let uri = HTTPTargetURI(request.url),
            let verified = try? DPoPVerifier().verify(
                texts[0], method: request.method, uri: uri,
                now: clock.now() + (state.dateOffset ?? 0), acceptsNonce: { _ in true }),
            let claims = try? CompactJWS(parsing: texts[0].utf8).claims()
        else {
            state.violations.append("bad proof at \(request.url)")
            return nil
        }
        if !state.proofs.insert(texts[0]).inserted { state.violations.append("proof sent twice") }
        if !state.proofs.insert("jti " + verified.jti).inserted {
            state.violations.append("proof jti used twice")
        }
        return Proof(jkt: verified.jkt.rawValue, claims: claims)
    }

    func checkAssertion(_ form: [String: String], _ state: inout State) {
        guard let assertion = form["client_assertion"] else { return }
        if !state.assertions.insert(assertion).inserted {
            state.violations.append("assertion sent twice")
        }
        if form["client_assertion_type"] != FormBody.assertionType {
            state.violations.append("wrong client_assertion_type")
        }
    }

    /// The claims of a device request by the enrolled key for this session.
    func deviceRequest(
        _ request: HTTPRequest, _ action: String, _ session: Session, _ state: inout State
    ) -> JSONValue? {
        guard case .bytes(let body) = request.body, let claims = signed(body, &state),
            claims["act"]?.string == action, claims["sid"]?.string == session.sid
        else { return nil }
        return claims
    }

    /// The claims, when the enrolled key signed them (R-100-50).
    func signed(_ body: [UInt8], _ state: inout State) -> JSONValue? {
        guard let jws = try? CompactJWS(parsing: body), jws.type == "device-request+jwt",
            let claims = try? jws.claims(), claims["aud"]?.string == issuer
        else { return nil }
        guard jws.kid == enrolledKey.thumbprint, let key = try? PublicKey(enrolledKey),
            jws.isSigned(by: key), claims["iss"]?.string == jws.kid
        else { return nil }
        return claims
    }

    static func call(
        _ path: String, _ form: [String: String], issuer: String, _ request: HTTPRequest
    ) -> Call? {
        guard request.url.hasPrefix(issuer + "/") else { return .api }
        switch path {
        case "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server":
            return .discovery
        case "/challenge": return form["ceremony_response"] == nil ? .start : .completion
        case "/token": return form["grant_type"] == "refresh_token" ? .refresh : .token
        case "/revoke": return .revocation
        case _ where path.hasSuffix("/face-token"): return .faceToken
        case _ where path.hasSuffix("/abort"): return .abort
        default: return nil
        }
    }

    static func form(_ request: HTTPRequest) -> [String: String] {
        guard request.headers.contains(where: { $0.value == FormBody.contentType }),
            case .bytes(let body) = request.body
        else { return [:] }
        var form: [String: String] = [:]
        for pair in String(decoding: body, as: UTF8.self).split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            form[unescaped(parts[0])] = unescaped(parts[1])
        }
        return form
    }

    private static func unescaped(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func json(_ status: Int, _ members: [String: String]) -> HTTPAnswer {
        let text = "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
        return HTTPAnswer(
            status: status, headers: [HTTPHeader("Content-Type", "application/json")],
            body: Array(text.utf8))
    }

    static func error(_ status: Int, _ code: String, _ headers: [HTTPHeader] = []) -> HTTPAnswer {
        var answer = json(status, ["error": "\"\(code)\""])
        answer.headers += headers
        return answer
    }

    static func busy(_ status: Int, retryAfter: String? = nil) -> HTTPAnswer {
        HTTPAnswer(
            status: status, headers: retryAfter.map { [HTTPHeader("Retry-After", $0)] } ?? [],
            body: Array("<html>busy</html>".utf8))
    }

    /// IMF-fixdate.
    static func date(_ seconds: Int64) -> String {
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        // Counting day by day: slow, and nothing like the code under test.
        var (day, year, month, left) = (seconds / 86_400, Int64(1970), 0, seconds / 86_400)
        while true {
            let isLeap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
            let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            if left < lengths[month] { break }
            left -= lengths[month]
            month += 1
            if month == 12 { (month, year) = (0, year + 1) }
        }
        day %= 7
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let time = seconds % 86_400
        return "\(days[Int(day)]), \(two(left + 1)) \(months[month]) \(year) "
            + "\(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT"
    }
}
