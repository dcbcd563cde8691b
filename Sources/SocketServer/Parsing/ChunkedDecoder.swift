/// The chunked coding of RFC 9112 §7.1, one octet a step (chunk data in runs), so that every split of the input
/// takes the same way.
struct ChunkedDecoder {
    private enum State: Equatable {
        case size(digits: Int)
        case extensions
        case sizeLF
        case data(remaining: Int)
        case dataCR, dataLF
        case trailerStart
        case trailerName, trailerValue
        case trailerLF, endLF
        case complete
    }

    /// Fifteen hexadecimal digits always fit an `Int`.
    private static let maximumDigits = 15

    private var state = State.size(digits: 0)
    private var size = 0
    private var bodyRoom: Int
    private var extensionRoom: Int
    private var trailerRoom: Int
    private var trailerFieldRoom: Int

    init(bodyLimit: Int, limits: HTTPLimits) {
        bodyRoom = bodyLimit
        extensionRoom = limits.chunkExtensions
        trailerRoom = limits.fieldSection
        trailerFieldRoom = limits.fields
    }

    var isComplete: Bool { state == .complete }

    /// Takes one octet of framing, or one run of data, and returns where data lies in `bytes`.
    mutating func take(_ bytes: Octets, from index: inout Int) throws(HTTPRejection) -> Range<Int> {
        if case .data(let remaining) = state {
            let end = index + min(remaining, bytes.count - index)
            defer { index = end }
            let left = remaining - (end - index)
            state = left == 0 ? .dataCR : .data(remaining: left)
            return index..<end
        }
        state = try next(bytes[index])
        index += 1
        return index..<index
    }

    private mutating func next(_ octet: UInt8) throws(HTTPRejection) -> State {
        switch state {
        case .size(let digits): return try readSize(octet, digits)
        case .extensions: return try readExtension(octet)
        case .sizeLF:
            guard octet == .lf else { throw .malformedChunk }
            guard size > 0 else { return .trailerStart }
            guard size <= bodyRoom else { throw .bodyTooLarge }
            bodyRoom -= size
            return .data(remaining: size)
        case .dataCR:
            guard octet == .cr else { throw .malformedChunk }
            return .dataLF
        case .dataLF:
            guard octet == .lf else { throw .malformedChunk }
            size = 0
            return .size(digits: 0)
        case .trailerStart, .trailerName, .trailerValue, .trailerLF:
            return try readTrailer(octet)
        case .endLF:
            guard octet == .lf else { throw .malformedChunk }
            return .complete
        case .data, .complete: return state
        }
    }

    private mutating func readSize(_ octet: UInt8, _ digits: Int) throws(HTTPRejection) -> State {
        if let value = octet.hexValue {
            guard digits < Self.maximumDigits else { throw .malformedChunk }
            size = size << 4 | Int(value)
            return .size(digits: digits + 1)
        }
        guard digits > 0 else { throw .malformedChunk }
        switch octet {
        case .cr: return .sizeLF
        case UInt8(ascii: ";"): return try readExtension(octet)
        default: throw .malformedChunk
        }
    }

    /// Extensions are ignored (RFC 9112 §7.1.1), counted over the whole body.
    private mutating func readExtension(_ octet: UInt8) throws(HTTPRejection) -> State {
        if octet == .cr { return .sizeLF }
        guard octet.isFieldOctet, extensionRoom > 0 else { throw .malformedChunk }
        extensionRoom -= 1
        return .extensions
    }

    /// Trailer fields must be well formed, and are dropped (RFC 9112 §7.1.2).
    private mutating func readTrailer(_ octet: UInt8) throws(HTTPRejection) -> State {
        guard trailerRoom > 0 else { throw .trailersTooLarge }
        trailerRoom -= 1
        switch (state, octet) {
        case (.trailerStart, .cr): return .endLF
        case (.trailerStart, _) where octet.isTokenOctet:
            guard trailerFieldRoom > 0 else { throw .trailersTooLarge }
            trailerFieldRoom -= 1
            return .trailerName
        case (.trailerName, UInt8(ascii: ":")): return .trailerValue
        case (.trailerName, _) where octet.isTokenOctet: return .trailerName
        case (.trailerValue, .cr): return .trailerLF
        case (.trailerValue, _) where octet.isFieldOctet: return .trailerValue
        case (.trailerLF, .lf): return .trailerStart
        default: throw .malformedChunk
        }
    }
}
