/// What follows a request's head.
enum RequestBody {
    case none
    /// With a `Content-Length`; empty bytes are a body of length zero.
    case bytes([UInt8])
    /// In chunks (RFC 9112 §7.1), since nobody knows its length.
    case stream(StreamedBody)

    /// `nil` is no body.
    init(_ bytes: [UInt8]?) { self = bytes.map { .bytes($0) } ?? .none }
}

/// A body that is read piece by piece while it is sent, once.
/// Sendable: read only by the worker that runs the transfer.
final class StreamedBody: @unchecked Sendable {
    private let next: @Sendable () throws -> [UInt8]?
    private var rest: ArraySlice<UInt8> = []
    private var hasEnded = false

    /// - Parameter next: each call gives the next bytes, `nil` the end. It may block.
    init(_ next: @escaping @Sendable () throws -> [UInt8]?) { self.next = next }

    /// Fills the front of the buffer.
    /// - Returns: how many bytes; 0 at the end, `nil` when the source failed: then nothing more may follow, not even an end.
    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int? {
        do {
            while rest.isEmpty, !hasEnded {
                if let piece = try next() { rest = piece[...] } else { hasEnded = true }
            }
        } catch {
            return nil
        }
        let piece = rest.prefix(buffer.count)
        buffer.copyBytes(from: piece)
        rest = rest.dropFirst(piece.count)
        return piece.count
    }
}
