import SocketServer

/// The `Content-Type` of a request.
enum MediaType {
    /// Type and subtype in lower case, parameters left out; `nil` when there is no such field, or more than one.
    static func of(_ head: HTTPRequestHead) -> String? {
        guard head.headers.count("content-type") == 1,
            let field = head.headers.first("content-type")
        else { return nil }
        let type = field.prefix { $0 != ";" }
        return String(type.filter { $0 != " " && $0 != "\t" }).lowercased()
    }
}
