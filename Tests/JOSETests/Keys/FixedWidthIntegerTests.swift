import JOSE
import TestKit
import Testing

/// Cases, keys "Fixed-width integers": scalars, and coordinates of the public point, that start with zeros.
@Suite struct FixedWidthIntegerTests {
    private static let scalars: [(hex: String, thumbprint: String)] = [
        ("17b", "7Yxe6c_3bAa6kiaK1G-BZmi9EeNsUmlcbdnrtLeuK4E"),
        ("2b", "WZsjbh58q8kl1WsGShqtiycImZtCgGbukDn4RAacMig"),
        ("c0c6", "kAORMhlgziJZIHgXEMPBV0UiV4FORQftLpCrZ8oCbzI"),
    ]

    @Test
    func `every form of the three keys loads, has the thumbprint, and signs what others verify`()
        async throws
    {
        let points = try await Oracle.ask(
            "signatures.py", Self.scalars.map { #"{"op":"P-256","d":"\#($0.hex)"}"# })
        var questions: [String] = []
        for (scalar, answer) in zip(Self.scalars, points) {
            let x = try #require(answer["x"]?.string.flatMap { Base64URL.decode($0) })
            let y = try #require(answer["y"]?.string.flatMap { Base64URL.decode($0) })
            for form in try Self.forms(scalar.hex, points: [nil, [4] + x + y]) {
                let key = try PrivateKey(encoded: form)
                #expect(key.publicJWK.thumbprint == scalar.thumbprint)
                #expect(key.publicJWK.material == .p256(x: x, y: y))
                let text = key.publicJWK.jsonText(asSigningKey: false)
                #expect(text.contains(#""x":"\#(Base64URL.encode(x))""#))
                #expect(Base64URL.encode(x).utf8.count == 43)
                let message = Array("message".utf8)
                let signature = Base64URL.encode(try key.sign(message))
                questions.append(
                    #"{"op":"verify","jwk":\#(text),"pairs":[["\#(Base64URL.encode(message))","\#(signature)"]]}"#
                )
            }
        }
        #expect(questions.count == 24)
        for verdict in try await Oracle.ask("signatures.py", questions) {
            #expect(verdict["refused"]?.array?.isEmpty == true)
        }
    }

    @Test func `the point in the file must be the scalar's`() throws {
        let other = try PrivateKey.generate(.ES256).publicJWK
        guard case .p256(let x, let y) = other.material else { throw KeyError.unusable }
        for form in try Self.forms("17b", points: [[4] + x + y]) {
            #expect(throws: KeyError.self) { try PrivateKey(encoded: form) }
        }
    }

    @Test(arguments: [
        "0", "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
        "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632552",
    ])
    func `a scalar of zero or not below the order is refused`(hex: String) throws {
        for form in try Self.forms(hex, points: [nil]) {
            #expect(throws: KeyError.self) { try PrivateKey(encoded: form) }
        }
    }

    /// SEC1 and PKCS #8, as DER and PEM, with each of `points` as the optional public part, `nil` for none.
    private static func forms(_ hex: String, points: [[UInt8]?]) throws -> [[UInt8]] {
        let digits = String(repeating: "0", count: 64 - hex.count) + hex
        let scalar = try #require(bytes(hex: digits))
        return points.flatMap { point -> [[UInt8]] in
            let sec1 = DER.sec1(scalar: scalar, point: point)
            let pkcs8 = DER.pkcs8(scalar: scalar, point: point)
            return [
                sec1, pkcs8, Array(DER.pem("EC PRIVATE KEY", sec1).utf8),
                Array(DER.pem("PRIVATE KEY", pkcs8).utf8),
            ]
        }
    }
}
