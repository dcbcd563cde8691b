import TestKit
import Testing

@testable import JOSE

@Suite struct SignatureEncodingTests {
    /// Cases, keys "Signature encoding". About 150 of so many have an r or s that starts with a zero octet.
    @Test func `20,000 ES256 signatures are 64 octets each and verify elsewhere`() async throws {
        let key = try PrivateKey.generate(.ES256)
        let verifier = try PublicKey(key.publicJWK)
        var pairs: [String] = []
        var short = 0
        for number in 0..<20_000 {
            let message = Array("payload \(number)".utf8)
            let signature = try key.sign(message)
            try #require(signature.count == 64)
            if signature[0] == 0 || signature[32] == 0 {
                short += 1
                #expect(verifier.verifies(signature, over: message))
            }
            pairs.append(#"["\#(Base64URL.encode(message))","\#(Base64URL.encode(signature))"]"#)
        }
        #expect(short > 50)
        let jwk = key.publicJWK.jsonText(asSigningKey: false)
        let verdict = try await Oracle.ask(
            "signatures.py",
            [#"{"op":"verify","jwk":\#(jwk),"pairs":[\#(pairs.joined(separator: ","))]}"#])
        #expect(verdict[0]["refused"]?.array?.isEmpty == true)
    }

    /// Cases, keys "PSS parameters".
    @Test(arguments: [2048, 3072, 4096])
    func `PS256 signatures have the modulus's length and verify with the salt's length fixed`(
        bits: Int
    ) async throws {
        let directory = try TemporaryDirectory()
        try await runChecked([
            "openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:\(bits)",
            "-out",
            directory.file("key.pem"),
        ])
        let key = try PrivateKey.load(uri: "file:\(directory.file("key.pem"))")
        #expect(key.algorithm == .PS256)
        let message = Array("message".utf8)
        let signature = try key.sign(message)
        #expect(signature.count == bits / 8)
        #expect(try key.sign(message) != signature, "the salt is random")

        let jwk = key.publicJWK.jsonText(asSigningKey: false)
        let pair = #"["\#(Base64URL.encode(message))","\#(Base64URL.encode(signature))"]"#
        let verdict = try await Oracle.ask(
            "signatures.py", [#"{"op":"verify","jwk":\#(jwk),"pairs":[\#(pair)]}"#])
        #expect(verdict[0]["refused"]?.array?.isEmpty == true)

        // The openssl command: accepted with salt 32 and MGF1 SHA-256, refused with any other.
        try directory.write(message, to: "message")
        try directory.write(signature, to: "signature")
        try await runChecked([
            "openssl", "pkey", "-in", directory.file("key.pem"), "-pubout", "-out",
            directory.file("public.pem"),
        ])
        for (salt, mgf, status) in [
            ("32", "sha256", 0), ("31", "sha256", 1), ("max", "sha256", 1), ("32", "sha1", 1),
        ] as [(String, String, Int32)] {
            let result = try await runProcess([
                "openssl", "dgst", "-sha256", "-verify", directory.file("public.pem"), "-signature",
                directory.file("signature"), "-sigopt", "rsa_padding_mode:pss", "-sigopt",
                "rsa_pss_saltlen:\(salt)", "-sigopt", "rsa_mgf1_md:\(mgf)",
                directory.file("message"),
            ])
            #expect(result.status == status, "salt \(salt), MGF1 \(mgf): \(result.outputText)")
        }
    }

    @Test func `the openssl command verifies our ES256 signature once it is put into DER`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let key = try PrivateKey.generate(.ES256)
        let message = Array("message".utf8)
        let der = try #require(ECDSASignature.der(fromJOSE: key.sign(message)))
        try directory.write(key.pkcs8PEM(), to: "key.pem")
        try directory.write(message, to: "message")
        try directory.write(der, to: "signature")
        try await runChecked([
            "openssl", "pkey", "-in", directory.file("key.pem"), "-pubout", "-out",
            directory.file("public.pem"),
        ])
        for (file, status) in [("message", 0), ("key.pem", 1)] as [(String, Int32)] {
            let result = try await runProcess([
                "openssl", "dgst", "-sha256", "-verify", directory.file("public.pem"), "-signature",
                directory.file("signature"), directory.file(file),
            ])
            #expect(result.status == status)
        }
    }

    @Test(arguments: 0..<200)
    func `DER and JOSE forms convert into one another`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let zeros = { (random: inout SeededRandom) in
            [UInt8](repeating: 0, count: Int.random(in: 0...32, using: &random))
        }
        let r = (zeros(&random) + random.bytes(count: 32)).prefix(32)
        let s = (zeros(&random) + random.bytes(count: 32)).prefix(32)
        let der = try #require(ECDSASignature.der(fromJOSE: Array(r + s)))
        #expect(der.withUnsafeBufferPointer(ECDSASignature.jose(fromDER:)) == Array(r + s))
    }

    @Test(arguments: [
        "", "30", "3000", "30060201010201", "3006020101020101ff", "300602010102010100",
        "3007020101020101",
        "30060201ff020101", "3006020101020180", "3007020200010201 01", "30810602010102 0101",
        "3006020001020101", "3106020101020101",
        "3006030101020101", "3006020101030101", "30050201010200", "3003020101",
        "308006020101020101",
        "3028" + "0222" + "01" + String(repeating: "00", count: 33) + "020101",
    ])
    func `what is not the one DER spelling of two positive numbers is refused`(hex: String) throws {
        let der = try #require(bytes(hex: hex.replacing(" ", with: "")))
        #expect(der.withUnsafeBufferPointer(ECDSASignature.jose(fromDER:)) == nil)
    }

    @Test(arguments: [0, 1, 32, 63, 65, 70, 72, 128])
    func `a signature of another length than 64 is refused`(length: Int) throws {
        let verifier = try PublicKey(TestKeys.key(.ES256).publicJWK)
        #expect(!verifier.verifies([UInt8](repeating: 1, count: length), over: [1]))
        #expect(ECDSASignature.der(fromJOSE: [UInt8](repeating: 1, count: length)) == nil)
    }

    @Test func `a PS256 signature with a zero in front or one octet less is refused`() throws {
        let key = try TestKeys.key(.PS256)
        let verifier = try PublicKey(key.publicJWK)
        let signature = try key.sign([1])
        #expect(verifier.verifies(signature, over: [1]))
        #expect(!verifier.verifies([0] + signature, over: [1]))
        #expect(!verifier.verifies(Array(signature.dropLast()), over: [1]))
        #expect(!verifier.verifies([], over: [1]))
    }
}
