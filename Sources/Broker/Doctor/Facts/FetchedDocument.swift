import JOSE

/// A JSON document that was asked for, and what came.
struct FetchedDocument: Sendable {
    let url: String
    let document: Result<JSONValue, FetchFault>
    /// By the `Date` of the answer; `nil` without one, or when a cache gave it.
    var clock: ClockComparison?
    /// Seconds a cache may keep it; `nil` when it does not say.
    var maximumAge: Int64?
    /// Whether it may have lain in a cache, by its `Age`.
    var isFromCache = false

    /// Whether anybody answered over HTTP at all.
    var wasAnswered: Bool {
        switch document {
        case .success: true
        case .failure(let fault): fault.isAnswer
        }
    }
}

/// Why there is no document.
enum FetchFault: Error, Sendable, Equatable {
    /// The URL is neither `https` nor plain `http` to a loopback host.
    case notAllowed
    case unreachable(String)
    /// No handshake: an unknown authority, another name, an expired certificate, or an old version of TLS.
    case tls
    case timedOut
    case redirect(status: Int, location: String?)
    case status(Int)
    /// Larger than so many octets.
    case tooLarge(Int)
    /// What is wrong, and the media type it came with.
    case notJSON(String, mediaType: String?)

    var isAnswer: Bool {
        switch self {
        case .notAllowed, .unreachable, .tls, .timedOut: false
        case .redirect, .status, .tooLarge, .notJSON: true
        }
    }
}

extension FetchFault: CustomStringConvertible {
    var description: String {
        switch self {
        case .notAllowed: "it must be an https URL"
        case .unreachable(let why): why
        case .tls:
            "no TLS: the certificate is of an unknown authority, for another name or expired, or the server speaks no TLS 1.2"
        case .timedOut: "no whole answer in time"
        case .redirect(let status, let location):
            "it answered \(status), to \(location.map { quoted($0) } ?? "nowhere"); redirects are not followed"
        case .status(let status): "it answered \(status)"
        case .tooLarge(let limit): "the answer is larger than \(limit >> 10) KiB"
        case .notJSON(let why, let mediaType):
            "the answer is no JSON object (\(why)); its media type is \(mediaType.map { quoted($0) } ?? "not given")"
        }
    }
}
