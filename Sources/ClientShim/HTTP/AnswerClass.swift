import JOSE

/// What an answer means for the step that asked (R-100-21).
enum AnswerClass: Sendable {
    /// 2xx with a JSON object, or with nothing, which reads as an object without members.
    case served(JSONValue)
    /// 5xx, 429, or an answer too long to read (R-100-26).
    case busy(Busy)
    /// Anything else; final for those bytes (R-100-22).
    case refused(Refusal)

    /// - Parameter now: seconds since 1970 UTC, for a `Retry-After` with a date.
    init(_ answer: HTTPAnswer, now: Int64) {
        if answer.isOversized || answer.status == 429 || answer.status >= 500 {
            let retryAfter = RetryAfter.seconds(in: answer, now: now)
            self = .busy(Busy(status: answer.status, retryAfter: retryAfter))
            return
        }
        let text = answer.body.isEmpty ? Array("{}".utf8) : answer.body
        let json = (try? JSONValue(parsing: text)).flatMap { $0.members == nil ? nil : $0 }
        if (200..<300).contains(answer.status), let json {
            self = .served(json)
        } else {
            self = .refused(Refusal(status: answer.status, json: json))
        }
    }
}

/// The peer cannot now.
struct Busy: Sendable, Equatable {
    let status: Int
    /// Seconds, 0 to 3600, when the peer gave any.
    let retryAfter: Int?
}

/// The peer will not, or its answer makes no sense.
struct Refusal: Sendable, Equatable {
    let status: Int
    /// The OAuth `error` (RFC 6749 §5.2), when the answer was a JSON object with one.
    let error: String?
    /// The extra member in which the provider names a broken precondition (flows §3.2).
    let code: String?
    /// `request_uri` of a `redirect_to_web`.
    let requestUri: String?
    /// The ceremony an `insufficient_authorization` offers, when it can be read.
    let ceremony: CeremonyOffer?
    /// Developer text for a refusal that is not an answer's own, such as unusable metadata.
    let details: String?

    init(status: Int, json: JSONValue?) {
        self.status = status
        error = json?["error"]?.string
        code = json?["code"]?.string
        requestUri = json?["request_uri"]?.string
        ceremony = json?["ceremony"].flatMap(CeremonyOffer.init)
        details = nil
    }

    /// The call could not even be made.
    init(details: String) {
        status = 0
        error = nil
        code = nil
        requestUri = nil
        ceremony = nil
        self.details = details
    }

    /// Developer text: status and error code only, since a description may quote what was sent.
    var message: String {
        details ?? ("answer \(status)" + (error.map { ", \(Self.printable($0))" } ?? ""))
    }

    /// An error code as RFC 6749 §5.2 allows it; other characters cannot reach a log.
    static func printable(_ code: String) -> String {
        String(
            decoding: code.utf8.prefix(64).map { byte in
                let isPlain = (0x20...0x7e).contains(byte) && byte != 0x22 && byte != 0x5c
                return isPlain ? byte : UInt8(ascii: "?")
            }, as: UTF8.self)
    }
}

/// A face ceremony the provider wants (flows §3.5).
struct CeremonyOffer: Sendable, Equatable {
    let sid: String
    /// Seconds, 1 to 86400.
    let expiresIn: Int64

    /// - Returns: `nil` for another kind of ceremony, a handle that is no path segment, or no lifetime.
    init?(_ json: JSONValue) {
        guard json["kind"]?.string == "face", let sid = json["sid"]?.string,
            Self.isPathSegment(sid), let expiresIn = json["expires_in"]?.integer,
            (1...86_400).contains(expiresIn)
        else { return nil }
        self.sid = sid
        self.expiresIn = expiresIn
    }

    /// The handle goes into a URL: unreserved characters only (RFC 3986 §2.3), and no dot segment.
    private static func isPathSegment(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 256 && text != "." && text != ".."
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"):
                    true
                default: "-._~".utf8.contains(byte)
                }
            }
    }
}
