/// Takes a request's body out of its framing, piece by piece.
struct BodyDecoder {
    enum Answer: Equatable {
        /// The body is whole; the next request starts behind the consumed octets.
        case complete(consumed: Int)
        /// All octets given were taken.
        case needMore
        case bad(HTTPRejection)
    }

    private enum Form {
        case length(remaining: Int)
        case chunked(ChunkedDecoder)
    }

    /// What was decoded so far; stays empty when the body is only skipped.
    private(set) var body: [UInt8] = []
    private var form: Form
    private let keepsBody: Bool

    /// - Parameters:
    ///   - limit: the most octets of decoded body.
    ///   - keepsBody: false to skip a body nobody wants.
    init(
        _ framing: BodyFraming, limit: Int, limits: HTTPLimits, keepsBody: Bool = true
    ) throws(HTTPRejection) {
        self.keepsBody = keepsBody
        switch framing {
        case .none: form = .length(remaining: 0)
        case .length(let length):
            guard length <= limit else { throw .bodyTooLarge }
            form = .length(remaining: length)
        case .chunked: form = .chunked(ChunkedDecoder(bodyLimit: limit, limits: limits))
        }
    }

    /// - Parameter bytes: what follows the octets of the calls before.
    mutating func decode(_ bytes: Octets) -> Answer {
        switch form {
        case .length(let remaining):
            let taken = min(remaining, bytes.count)
            if keepsBody { body.append(contentsOf: bytes[..<taken]) }
            form = .length(remaining: remaining - taken)
            return taken == remaining ? .complete(consumed: taken) : .needMore
        case .chunked(var decoder):
            // Taken out of the enum and put back, so that it is changed in place.
            form = .length(remaining: 0)
            defer { form = .chunked(decoder) }
            do throws(HTTPRejection) {
                var index = 0
                while index < bytes.count {
                    let data = try decoder.take(bytes, from: &index)
                    if keepsBody { body.append(contentsOf: bytes[data]) }
                    if decoder.isComplete { return .complete(consumed: index) }
                }
                return .needMore
            } catch {
                return .bad(error)
            }
        }
    }

    mutating func takeBody() -> [UInt8] {
        defer { body = [] }
        return body
    }
}
