/// The fields the server reads itself, and those of IANA's registry that may stand only once (RFC 9110 §5.3).
enum KnownField: UInt8 {
    case connection, expect
    case host, contentLength, transferEncoding
    case authorization, proxyAuthorization, contentType, dpop
    case origin, referer, userAgent, from, maxForwards
    case ifModifiedSince, ifUnmodifiedSince, ifRange, range

    /// - Parameter name: in any letter case.
    init?(_ name: Slice<Octets>) {
        switch name.count {
        case 4:
            if name.equals(lowercase: "host") { self = .host; return }
            if name.equals(lowercase: "dpop") { self = .dpop; return }
            if name.equals(lowercase: "from") { self = .from; return }
        case 5: if name.equals(lowercase: "range") { self = .range; return }
        case 6:
            if name.equals(lowercase: "expect") { self = .expect; return }
            if name.equals(lowercase: "origin") { self = .origin; return }
        case 7: if name.equals(lowercase: "referer") { self = .referer; return }
        case 8: if name.equals(lowercase: "if-range") { self = .ifRange; return }
        case 10:
            if name.equals(lowercase: "connection") { self = .connection; return }
            if name.equals(lowercase: "user-agent") { self = .userAgent; return }
        case 12:
            if name.equals(lowercase: "content-type") { self = .contentType; return }
            if name.equals(lowercase: "max-forwards") { self = .maxForwards; return }
        case 13: if name.equals(lowercase: "authorization") { self = .authorization; return }
        case 14: if name.equals(lowercase: "content-length") { self = .contentLength; return }
        case 17:
            if name.equals(lowercase: "transfer-encoding") { self = .transferEncoding; return }
            if name.equals(lowercase: "if-modified-since") { self = .ifModifiedSince; return }
        case 19:
            if name.equals(lowercase: "proxy-authorization") {
                self = .proxyAuthorization
                return
            }
            if name.equals(lowercase: "if-unmodified-since") { self = .ifUnmodifiedSince; return }
        default: break
        }
        return nil
    }

    /// What a second line of this field, or a list in it, is refused as; `nil` where it may be repeated.
    var repetition: HTTPRejection? {
        switch self {
        case .connection, .expect: nil
        case .host: .malformedHost
        case .contentLength: .malformedContentLength
        case .transferEncoding: .ambiguousFraming
        default: .repeatedField
        }
    }
}
