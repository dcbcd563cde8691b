import JOSE
import TestKit
import Testing

@Suite struct AESGCMTests {
    private let key: [UInt8]
    private let text = Array("nonce|1700000000".utf8)
    private let data = Array("dpop-nonce v1".utf8)

    init() throws {
        key = try SecureRandom.bytes(32)
    }

    @Test(arguments: 0..<50)
    func `open undoes seal for any lengths`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let text = random.bytes(count: Int.random(in: 0...100, using: &random))
        let data = random.bytes(count: Int.random(in: 0...20, using: &random))
        let sealed = try AESGCM.seal(text, key: key, associatedData: data)
        #expect(sealed.count == text.count + 28)
        #expect(try AESGCM.open(sealed, key: key, associatedData: data) == text)
    }

    @Test func `one altered bit anywhere is noticed`() throws {
        let sealed = try AESGCM.seal(text, key: key, associatedData: data)
        for index in sealed.indices {
            for bit in 0..<8 {
                var altered = sealed
                altered[index] ^= 1 << bit
                #expect(throws: AESGCM.Failure.notAuthentic) {
                    try AESGCM.open(altered, key: key, associatedData: data)
                }
            }
        }
    }

    @Test func `every cut and every addition is noticed`() throws {
        let sealed = try AESGCM.seal(text, key: key, associatedData: data)
        for count in sealed.indices {
            #expect(throws: AESGCM.Failure.notAuthentic) {
                try AESGCM.open(Array(sealed.prefix(count)), key: key, associatedData: data)
            }
        }
        #expect(throws: AESGCM.Failure.notAuthentic) {
            try AESGCM.open(sealed + [0], key: key, associatedData: data)
        }
    }

    @Test func `another key or other associated data does not open it`() throws {
        let sealed = try AESGCM.seal(text, key: key, associatedData: data)
        let other = try SecureRandom.bytes(32)
        #expect(throws: AESGCM.Failure.notAuthentic) {
            try AESGCM.open(sealed, key: other, associatedData: data)
        }
        for wrong in [[], data + [0], Array(data.dropLast())] {
            #expect(throws: AESGCM.Failure.notAuthentic) {
                try AESGCM.open(sealed, key: key, associatedData: wrong)
            }
        }
    }

    @Test(arguments: [0, 16, 24, 31, 33])
    func `a key of another length is refused`(length: Int) {
        let short = [UInt8](repeating: 1, count: length)
        #expect(throws: AESGCM.Failure.keyLength) {
            try AESGCM.seal(text, key: short, associatedData: [])
        }
        #expect(throws: AESGCM.Failure.keyLength) {
            try AESGCM.open([UInt8](repeating: 0, count: 64), key: short, associatedData: [])
        }
    }

    @Test func `the same text is never sealed alike twice`() throws {
        let sealed = try (0..<1000).map { _ in
            try AESGCM.seal(text, key: key, associatedData: data)
        }
        #expect(Set(sealed.map { Array($0.prefix(12)) }).count == 1000)
    }

    /// NIST's GCM specification, test case 16 (AES-256, 96-bit nonce, associated data).
    @Test func `a published ciphertext opens`() throws {
        let key = try #require(
            bytes(hex: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"))
        let sealed = try #require(
            bytes(
                hex: "cafebabefacedbaddecaf888"
                    + "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                    + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
                    + "76fc6ece0f4e1768cddf8853bb2d551b"))
        let associated = try #require(bytes(hex: "feedfacedeadbeeffeedfacedeadbeefabaddad2"))
        let plaintext = try #require(
            bytes(
                hex: "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                    + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"))
        #expect(try AESGCM.open(sealed, key: key, associatedData: associated) == plaintext)
    }
}
