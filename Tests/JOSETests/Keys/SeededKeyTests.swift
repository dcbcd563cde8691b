import TestKit
import Testing

@testable import JOSE

/// Keys made of seeds, judged by published vectors and by `cryptography`, which brings an OpenSSL of its own.
@Suite struct SeededKeyTests {
    static let later = SeededKey.Algorithm.allCases.filter { $0 != .p256 }

    static func hex(_ text: String) throws -> [UInt8] {
        let digits = Array(text)
        return try stride(from: 0, to: digits.count, by: 2).map {
            try #require(UInt8(String(digits[$0...($0 + 1)]), radix: 16))
        }
    }

    private func quoted(_ octets: [UInt8]) -> String { "\"\(Base64URL.encode(octets))\"" }

    private func octets(_ answer: JSONValue, _ name: String) throws -> [UInt8] {
        let text = try #require(answer[name]?.string)
        return try #require(Base64URL.decode(text))
    }

    private func seed(_ algorithm: SeededKey.Algorithm) throws -> [UInt8] {
        try SecureRandom.bytes(algorithm.seedLength)
    }

    @Test(arguments: 0..<24)
    func `HKDF is that of another implementation`(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let salt = random.bytes(count: Int.random(in: 1...80, using: &random))
        let secret = random.bytes(count: Int.random(in: 1...80, using: &random))
        let info = random.bytes(count: Int.random(in: 0...80, using: &random))
        let count = Int.random(in: 1...300, using: &random)
        let answer = try await Oracle.ask(
            "face_keys.py",
            [
                #"{"op":"hkdf","salt":\#(quoted(salt)),"secret":\#(quoted(secret)),"info":\#(quoted(info)),"count":\#(count)}"#
            ])
        #expect(
            try octets(answer[0], "key")
                == HKDF.expand(HKDF.extract(salt: salt, from: secret), info: info, count: count))
    }

    /// RFC 9180 A.3.1: `ikmR`, `skRm`, `pkRm`, `enc` and `shared_secret`.
    @Test func `the example of RFC 9180 for DHKEM on P-256 comes out`() throws {
        let seed = try Self.hex("668b37171f1072f3cf12ea8a236a45df23fc13b82af3609ad1e354f6ef817550")
        #expect(
            DHKEM.secretKey(from: seed)
                == (try Self.hex(
                    "f3ce7fdae57e1a310d87f1ebbde6f328be0a99cdbcadf4d6589cf29de4b8ffd2")))
        let key = try SeededKey(.p256, seed: seed)
        let point = try Self.hex(
            "04fe8c19ce0905191ebc298a9245792531f26f0cece2460639e8bc39cb7f706a82"
                + "6a779b4cf969b8a0e539c7f62fb3d30ad6aa8f80e30f1d128aafd68a2ce72ea0")
        #expect(try key.publicKeyInfo().suffix(point.count) == point[...])
        let encapsulated = try Self.hex(
            "04a92719c6195d5085104f469a8b9814d5838ff72b60501e2c4466e5e67b325ac9"
                + "8536d7b61a1af4b78e5b7f951c0900be863c403ce65c9bfcb9382657222d18c4")
        #expect(
            try key.decapsulate(encapsulated)
                == (try Self.hex(
                    "c0d26aeab536609a572b07695d933b589dcf363ff9d93c93adea537aeabb8cb8")))
    }

    @Test(arguments: [
        [], [0x00], [UInt8](repeating: 0x04, count: 64), [0x04] + [UInt8](repeating: 0, count: 64),
        [0x04] + [UInt8](repeating: 0xff, count: 64), [0x04] + [UInt8](repeating: 1, count: 65),
        // A compressed point: the same secret by another text (RFC 9180 §7.1.1 takes uncompressed ones only).
        [0x02] + [UInt8](repeating: 0x6b, count: 32), [UInt8](repeating: 0x02, count: 65),
    ])
    func `P-256 opens nothing but an uncompressed point of the curve`(_ ciphertext: [UInt8]) throws
    {
        let key = try SeededKey(.p256, seed: try seed(.p256))
        #expect(throws: KeyError.self) { try key.decapsulate(ciphertext) }
    }

    @Test(arguments: SeededKey.Algorithm.allCases, [-1, 1, 32])
    func `a seed of another length makes no key`(
        _ algorithm: SeededKey.Algorithm, difference: Int
    ) throws {
        let seed = [UInt8](repeating: 7, count: algorithm.seedLength + difference)
        #expect(throws: KeyError.unusable) { try SeededKey(algorithm, seed: seed) }
    }

    @Test(arguments: [32, 64])
    func `a P-256 signature over a digest verifies elsewhere, and over another does not`(
        length: Int
    ) async throws {
        let key = try SeededKey(.p256, seed: try seed(.p256))
        let digest = try SecureRandom.bytes(length)
        let signature = try key.sign(digest: digest)
        let info = quoted(try key.publicKeyInfo())
        var other = digest
        other[0] ^= 1
        let questions = [digest, other].map {
            #"{"op":"verify","public_key":\#(info),"signature":\#(quoted(signature)),"message":\#(quoted($0))}"#
        }
        let answers = try await Oracle.ask("face_keys.py", questions)
        #expect(answers.map { $0["good"]?.bool } == [true, false])
    }

    @Test func `what another implementation encapsulated is opened, and by no other key`()
        async throws
    {
        for algorithm in [SeededKey.Algorithm.p256, .mlKEM768] where algorithm.isAvailable {
            let key = try SeededKey(algorithm, seed: try seed(algorithm))
            let stranger = try SeededKey(algorithm, seed: try seed(algorithm))
            let answer = try await Oracle.ask(
                "face_keys.py",
                [#"{"op":"encapsulate","public_key":\#(quoted(try key.publicKeyInfo()))}"#])[0]
            let ciphertext = try octets(answer, "ciphertext")
            #expect(try key.decapsulate(ciphertext) == octets(answer, "secret"))
            #expect(try stranger.decapsulate(ciphertext) != octets(answer, "secret"))
        }
    }

    /// OpenSSL's own version decides what must be there, so that a wrong name in our code is no reason to skip.
    @Test func `ML-DSA and ML-KEM are there from OpenSSL 3.5 on`() {
        for algorithm in Self.later {
            #expect(algorithm.isAvailable == OpenSSLVersion.hasPostQuantum, "\(algorithm)")
        }
        #expect(SeededKey.Algorithm.p256.isAvailable)
    }

    @Test(.disabled(if: OpenSSLVersion.hasPostQuantum, "this OpenSSL has ML-DSA and ML-KEM"))
    func `without them a key is refused by its algorithm's name`() throws {
        for algorithm in Self.later {
            let seed = try seed(algorithm)
            #expect(throws: KeyError.unsupportedType(algorithm.rawValue)) {
                try SeededKey(algorithm, seed: seed)
            }
        }
    }

    @Test func `a key does nothing that is not its algorithm's`() throws {
        let curve = try SeededKey(.p256, seed: try seed(.p256))
        #expect(throws: KeyError.unsupportedType("P-256")) {
            try curve.sign(message: [1], context: [])
        }
        guard OpenSSLVersion.hasPostQuantum else { return }
        let signer = try SeededKey(.mlDSA65, seed: try seed(.mlDSA65))
        #expect(throws: KeyError.self) { try signer.decapsulate([1]) }
        #expect(throws: KeyError.self) { try signer.sign(digest: [UInt8](repeating: 1, count: 32)) }
        let opener = try SeededKey(.mlKEM768, seed: try seed(.mlKEM768))
        #expect(throws: KeyError.self) { try opener.sign(message: [1], context: []) }
    }

    /// Skipped where the OpenSSL at run time is older than 3.5, as Debian 12's is. It was run there with Debian 13's libraries: the
    /// test program under Debian 13's dynamic loader with its libcrypto.so.3 first in the library path.
    @Suite(
        .enabled(
            if: OpenSSLVersion.hasPostQuantum, "needs OpenSSL 3.5 at run time, as in Debian 13"))
    struct PostQuantum {
        let tests = SeededKeyTests()

        @Test(arguments: SeededKeyTests.later)
        func `a seed makes the key that the standard says`(_ algorithm: SeededKey.Algorithm)
            async throws
        {
            let seed = try tests.seed(algorithm)
            let answer = try await Oracle.ask(
                "face_keys.py",
                [
                    #"{"op":"public_of_seed","algorithm":"\#(algorithm.rawValue)","seed":\#(tests.quoted(seed))}"#
                ])
            #expect(
                try tests.octets(answer[0], "public_key")
                    == SeededKey(algorithm, seed: seed).publicKeyInfo())
        }

        @Test(arguments: [0, 1, 255])
        func `an ML-DSA-65 signature verifies elsewhere, in its context alone`(count: Int)
            async throws
        {
            let key = try SeededKey(.mlDSA65, seed: try tests.seed(.mlDSA65))
            let message = try SecureRandom.bytes(64)
            let context = [UInt8](repeating: 9, count: count)
            let signature = try key.sign(message: message, context: context)
            let info = tests.quoted(try key.publicKeyInfo())
            var other = message
            other[63] ^= 1
            let cases = [
                (message, context), (other, context), (message, [8]),
            ]
            let questions = cases.map {
                #"{"op":"verify","public_key":\#(info),"signature":\#(tests.quoted(signature)),"message":\#(tests.quoted($0.0)),"context":\#(tests.quoted($0.1))}"#
            }
            let answers = try await Oracle.ask("face_keys.py", questions)
            #expect(answers.map { $0["good"]?.bool } == [true, false, false])
        }

        @Test func `a context over 255 octets is refused`() throws {
            let key = try SeededKey(.mlDSA65, seed: try tests.seed(.mlDSA65))
            #expect(throws: KeyError.self) {
                try key.sign(message: [1], context: [UInt8](repeating: 0, count: 256))
            }
        }

        @Test(arguments: [0, 1, 1087, 1089])
        func `a ciphertext of another length is refused`(count: Int) throws {
            let key = try SeededKey(.mlKEM768, seed: try tests.seed(.mlKEM768))
            #expect(throws: KeyError.self) {
                try key.decapsulate([UInt8](repeating: 0, count: count))
            }
        }
    }
}
