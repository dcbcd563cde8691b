import JOSE

@testable import Broker

/// Lines as the broker logs them.
enum LogSample {
    /// A mint that was let in, or that a limit refused, at `at` microseconds since 1970.
    static func mint(
        at: Int64, client: String = "app", jkt: String = Sample.jkt, refusedBy: String? = nil
    ) -> String {
        line { json in
            json.member("ts", Timestamp.rfc3339(microseconds: at))
            json.member("event", refusedBy == nil ? "assertion.minted" : "assertion.refused")
            if let refusedBy {
                json.member("code", "rate_limited")
                json.member("policy", refusedBy)
            }
            json.member("client_id", client)
            json.member("jkt", jkt)
        }
    }

    static func line(_ members: (inout JSONWriter) -> Void) -> String {
        var json = JSONWriter()
        json.object(members)
        return json.text
    }

    /// The thumbprint of the install with this number.
    static func jkt(_ number: Int) -> String {
        Base64URL.encode(SHA256.hash("install \(number)".utf8))
    }
}
