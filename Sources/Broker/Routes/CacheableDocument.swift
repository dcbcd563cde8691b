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
        let headers = [
            ("Content-Type", contentType), ("Cache-Control", "public, max-age=\(maximumAge)"),
            ("ETag", tag.field),
        ]
        return tag.isKnown(to: head)
            ? HTTPResponse(status: 304, headers: headers)
            : HTTPResponse(status: 200, headers: headers, body: body)
    }
}
