/// An ES256 signature in its two spellings: DER, as OpenSSL has it, and the 64 octets of a JWS (RFC 7518 §3.4).
///
/// Written out by hand: a signature on P-256 is two short integers, and the hot path makes one for every assertion.
enum ECDSASignature {
    static let joseLength = 64
    private static let coordinateLength = 32
    private static let sequenceTag: UInt8 = 0x30
    private static let integerTag: UInt8 = 0x02

    /// `r ‖ s`, each padded to 32 octets, or `nil` when `der` is not the one DER spelling of such a signature
    /// (X.690 §8.3, §10.1): no spare length octets, no spare zeros, nothing negative, nothing behind.
    static func jose(fromDER der: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard der.count >= 2, der[0] == sequenceTag, der[1] < 0x80, Int(der[1]) == der.count - 2
        else { return nil }
        var octets = [UInt8](repeating: 0, count: joseLength)
        var index = 2
        for end in [coordinateLength, joseLength] {
            guard let magnitude = magnitude(in: der, at: &index) else { return nil }
            for (offset, octet) in magnitude.reversed().enumerated() {
                octets[end - 1 - offset] = octet
            }
        }
        return index == der.count ? octets : nil
    }

    /// The DER form of 64 octets, or `nil` for any other length.
    static func der(fromJOSE octets: [UInt8]) -> [UInt8]? {
        guard octets.count == joseLength else { return nil }
        var der: [UInt8] = [sequenceTag, 0]
        der.reserveCapacity(72)
        appendInteger(octets[..<coordinateLength], to: &der)
        appendInteger(octets[coordinateLength...], to: &der)
        der[1] = UInt8(der.count - 2)
        return der
    }

    /// The octets, at most 32 and without a leading zero, of the INTEGER at `index`, which moves behind it.
    private static func magnitude(
        in der: UnsafeBufferPointer<UInt8>, at index: inout Int
    ) -> Slice<UnsafeBufferPointer<UInt8>>? {
        guard index + 2 < der.count, der[index] == integerTag else { return nil }
        let length = Int(der[index + 1])
        let start = index + 2
        guard length >= 1, length <= coordinateLength + 1, length <= der.count - start else {
            return nil
        }
        index = start + length
        guard der[start] < 0x80 else { return nil }  // negative
        guard der[start] == 0, length > 1 else {
            return length <= coordinateLength ? der[start..<index] : nil
        }
        guard der[start + 1] >= 0x80 else { return nil }  // a zero that is not needed
        return der[(start + 1)..<index]
    }

    private static func appendInteger(_ octets: ArraySlice<UInt8>, to der: inout [UInt8]) {
        let significant = octets.drop { $0 == 0 }
        // The top bit is the sign, and zero itself still takes one octet.
        let needsZero = significant.first.map { $0 >= 0x80 } ?? true
        der.append(integerTag)
        der.append(UInt8(significant.count + (needsZero ? 1 : 0)))
        if needsZero { der.append(0) }
        der.append(contentsOf: significant)
    }
}
