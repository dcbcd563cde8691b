import SocketServer

/// A public document that callers may keep for a while and then ask for again by its tag.
struct CacheableDocument: Sendable {
    let contentType: String
    let body: [UInt8]
    let tag: EntityTag
    /// Seconds it may be kept without asking.
    let maximumAge: Int

    /// 304 where the caller has it already, else 200.
    func response(to head: HTTPRequestHead) -> HTTPResponse {
        let validity = [
            ("Cache-Control", "public, max-age=\(maximumAge)"), ("ETag", tag.field),
        ]
        // A 304 describes no content it does not have (RFC 9110 §15.4.5).
        return tag.isKnown(to: head)
            ? HTTPResponse(status: 304, headers: validity)
            : HTTPResponse(
                status: 200, headers: [("Content-Type", contentType)] + validity, body: body)
    }
}
