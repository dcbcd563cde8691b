import JOSE

/// What is logged of one request: never a value that a peer sent.
struct RequestEvent: Sendable, Equatable {
    /// The route's pattern, never the raw path.
    let route: String
    let status: Int
    /// Why the request was refused, in our words.
    var cause: String?

    /// One line of JSON.
    var line: String {
        var json = JSONWriter()
        json.object {
            $0.member("event", "sandbox.request")
            $0.member("route", route)
            $0.member("status", status)
            if let cause { $0.member("cause", cause) }
        }
        return json.text
    }
}
