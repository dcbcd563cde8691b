import JOSE
import SocketServer

/// What an administrator changes in a provider's console while it runs, as calls for development: `POST /sandbox/applications`
/// and `POST /sandbox/keys`. As with enrolments, whoever can reach the sandbox may do it.
struct ConsoleEndpoint: Sendable {
    let state: SharedState

    /// Changes an application, from the next call on: `client_id`, and any of the settings of flows §3.2 under the names of the
    /// configuration file, `browser_required`, and `denied_emails`. Nothing changes when one member is not acceptable.
    func changeApplication(_ request: HTTPRequest) throws(OAuthFault) -> HTTPResponse {
        let members = try members(of: request)
        guard let id = members.first(where: { $0.name == "client_id" })?.value.string else {
            throw .invalidRequest(.missing("client_id"))
        }
        try state.change { (state) throws(OAuthFault) in
            guard var client = state.clients[id] else {
                throw .invalidRequest(.malformed("client_id"))
            }
            for (name, value) in members where name != "client_id" {
                try client.change(name, to: value)
            }
            state.clients[id] = client
        }
        return Self.done
    }

    /// Says what has become of an enrolled key: `key_id`, and a `status` of `good`, `revoked` or `replaced`.
    func changeKey(_ request: HTTPRequest) throws(OAuthFault) -> HTTPResponse {
        let members = try members(of: request)
        func text(_ name: String) throws(OAuthFault) -> String {
            guard let text = members.first(where: { $0.name == name })?.value.string else {
                throw .invalidRequest(.missing(name))
            }
            return text
        }
        let keyId = try text("key_id")
        guard let status = Enrolment.Status(rawValue: try text("status")) else {
            throw .invalidRequest(.malformed("status"))
        }
        let isKnown = state.change { $0.directory.setStatus(status, ofKey: keyId) }
        guard isKnown else { throw .invalidRequest(.malformed("key_id")) }
        return Self.done
    }

    private static var done: HTTPResponse {
        HTTPResponse(status: 204, headers: [("Cache-Control", "no-store")])
    }

    private func members(
        of request: HTTPRequest
    ) throws(OAuthFault) -> [(name: String, value: JSONValue)] {
        guard let json = try? JSONValue(parsing: request.body), let members = json.members else {
            throw .invalidRequest(.malformedJSON)
        }
        return members.map { ($0.name, $0.value) }
    }
}

extension Client {
    /// Changes one setting by its name in the configuration file.
    fileprivate mutating func change(_ name: String, to value: JSONValue) throws(OAuthFault) {
        switch name {
        case "first_party_challenge_enabled": firstPartyChallengeEnabled = try Self.flag(value)
        case "own_app_registered": ownAppRegistered = try Self.flag(value)
        case "dpop_bound_access_tokens": dpopBoundAccessTokens = try Self.flag(value)
        case "tls_client_certificate_bound_access_tokens":
            certificateBoundAccessTokens = try Self.flag(value)
        case "browser_required": browserRequired = try Self.flag(value)
        case "token_endpoint_auth_method":
            guard let text = value.string else { throw Self.malformed }
            tokenEndpointAuthMethod = text
        case "redirect_uris": redirectURIs = try Self.texts(value)
        case "denied_emails":
            deniedEmails = Set(try Self.texts(value).map(Directory.normalized))
        default: throw Self.malformed
        }
    }

    private static var malformed: OAuthFault { .invalidRequest(.malformed("application")) }

    private static func flag(_ value: JSONValue) throws(OAuthFault) -> Bool {
        guard let flag = value.bool else { throw malformed }
        return flag
    }

    private static func texts(_ value: JSONValue) throws(OAuthFault) -> [String] {
        let texts = value.array?.compactMap(\.string)
        guard let texts, texts.count == value.array?.count else { throw malformed }
        return texts
    }
}
