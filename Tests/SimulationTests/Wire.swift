/// A request on the simulated network, in neither side's types.
struct WireRequest: Sendable {
    let method: String
    let url: String
    let headers: [(name: String, value: String)]
    let body: [UInt8]

    /// The value of a field, whose name is looked for as the app writes it.
    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// What follows `https://` and the host.
    var path: String {
        String(decoding: url.utf8.dropFirst(8).drop { $0 != UInt8(ascii: "/") }, as: UTF8.self)
    }

    /// The parameters of a form, as they stand there: what is looked for needs no escaping.
    var form: [String: String] {
        guard header("Content-Type") == "application/x-www-form-urlencoded" else { return [:] }
        var form: [String: String] = [:]
        for pair in body.split(separator: UInt8(ascii: "&")) {
            guard let mark = pair.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let name = String(decoding: pair[..<mark], as: UTF8.self)
            form[name] = String(decoding: pair[(mark + 1)...], as: UTF8.self)
        }
        return form
    }
}

/// An answer on the simulated network.
struct WireAnswer: Sendable {
    var status: Int
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []
}

/// How a request ended for the one who sent it.
enum WireOutcome: Sendable {
    case answer(WireAnswer)
    case lost
    case unsent
}

/// Which call a request is.
enum Exchange: String, Sendable {
    case discovery, start, faceToken, completion, token, refresh, revocation, abort, api, mint

    init(_ request: WireRequest, _ form: [String: String]) {
        let path = request.path
        self =
            switch path {
            case "/challenge": form["ceremony_response"] == nil ? .start : .completion
            case "/token": form["grant_type"] == "refresh_token" ? .refresh : .token
            case "/revoke": .revocation
            case "/v1/assertions": .mint
            case _ where path.hasPrefix("/api/"): .api
            case _ where path.hasSuffix("/face-token"): .faceToken
            case _ where path.hasSuffix("/abort"): .abort
            default: .discovery
            }
    }
}
