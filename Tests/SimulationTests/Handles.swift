/// Gives a sign-in another `auth_session` with each answer to a completion that is not its code, as a provider may (R-000-12),
/// and keeps the provider's own from the app from then on.
///
/// Sendable: touched on the run's thread only.
final class Handles: @unchecked Sendable {
    private var originals: [String: String] = [:]

    /// The answer to a completion with `form`, with a new handle unless it is served.
    func replacing(in answer: WireAnswer, to form: [String: String]) -> WireAnswer {
        guard let handle = form["auth_session"], answer.status != 200,
            answer.body.isEmpty || answer.body.first == UInt8(ascii: "{")
        else { return answer }
        let original = originals[handle] ?? handle
        let new = "replaced-handle-\(originals.count)-\(original.prefix(16))"
        originals[new] = original
        var answer = answer
        let rest =
            answer.body.isEmpty ? Array("}".utf8) : [UInt8(ascii: ",")] + answer.body.dropFirst()
        answer.body = Array("{\"auth_session\":\"\(new)\"".utf8) + rest
        return answer
    }

    /// The request as the provider knows it.
    func restoring(_ request: WireRequest) -> WireRequest {
        guard let handle = request.form["auth_session"], let original = originals[handle] else {
            return request
        }
        let body = String(decoding: request.body, as: UTF8.self)
            .split(separator: "&").map {
                $0 == "auth_session=\(handle)" ? "auth_session=\(original)" : $0
            }
            .joined(separator: "&")
        return WireRequest(
            method: request.method, url: request.url, headers: request.headers,
            body: Array(body.utf8))
    }
}
