import JOSE

@testable import Broker

/// The declaration and the reader beneath it. What was read as JSON5 is the same when it is written as JSON and read strictly.
enum JSON5Target: FuzzTarget {
    static func run(_ bytes: [UInt8]) {
        if let value = try? JSONValue(parsing: bytes, dialect: .json5) {
            var json = JSONWriter()
            json.value(value)
            guard let again = try? JSONValue(parsing: json.bytes) else {
                return promise(false, "not JSON when written: \(json.text)")
            }
            var rewritten = JSONWriter()
            rewritten.value(again)
            promise(rewritten.bytes == json.bytes, "\(json.text)\n\(rewritten.text)")
        }
        if let strict = try? JSONValue(parsing: bytes) {
            var (one, other) = (JSONWriter(), JSONWriter())
            one.value(strict)
            guard let loose = try? JSONValue(parsing: bytes, dialect: .json5) else {
                return promise(false, "JSON that is no JSON5")
            }
            other.value(loose)
            promise(one.bytes == other.bytes, "JSON5 reads JSON otherwise")
        }
        let key = try? PublicJWK(
            .p256(x: Array(repeating: 1, count: 32), y: Array(repeating: 2, count: 32)))
        _ = try? DeclarationReader.read(
            bytes,
            loadKey: { (_) throws(KeyError) in
                guard let key else { throw .empty }
                return key
            }, checkSecret: { (_) throws(SharedSecretError) in })
    }
}
