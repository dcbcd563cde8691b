/// What a handler decides on the head alone, before a body byte is awaited.
public enum Admission: Sendable {
    /// Read the body, at most this many decoded octets; a longer one is answered 413.
    case read(bodyLimit: Int)
    /// Answer now. The body is never given to the handler.
    case refuse(HTTPResponse)
}

/// The application behind an `HTTPServer`.
///
/// Every call is made on the lane's queue and must not block it.
public protocol HTTPHandler: AnyObject, Sendable {
    /// Decides on the head alone, before `100 Continue` is sent and before any body byte is awaited.
    func admit(_ head: HTTPRequestHead, on lane: Lane) -> Admission

    /// Takes one whole request. `reply` may be kept and completed later, from any thread.
    func handle(_ request: HTTPRequest, on lane: Lane, reply: Reply)

    /// The answer to a request the server refuses, so that all bodies are made in one place. The server sends
    /// the rejection's own status whatever the answer says, and closes the connection.
    ///
    /// - Parameter remote: the client's address, as in `HTTPRequestHead`; the socket peer's when the head was not read.
    func answer(to rejection: HTTPRejection, from remote: RemoteAddress) -> HTTPResponse
}
