import JOSE
import Testing

@Suite struct SecretTests {
    private static let canary = "eyJhbGciOiJFUzI1NiJ9.canary"

    private struct Holder {
        let name = "holder"
        let secret = Secret(SecretTests.canary)
        let optional: Secret<[UInt8]>? = Secret(Array(SecretTests.canary.utf8))
    }

    private static var renderings: [String] {
        let secret = Secret(canary)
        let holder = Holder()
        var dumped = ""
        dump(holder, to: &dumped)
        dump(secret, to: &dumped)
        dump([secret], to: &dumped)
        let children = Mirror(reflecting: secret).children.map { "\($0)" }
        return [
            "\(secret)", secret.description, secret.debugDescription, String(describing: secret),
            String(reflecting: secret), "\(holder)", String(reflecting: holder), "\([secret])",
            "\(["key": secret])", "\(Optional(secret) as Any)", dumped,
        ] + children
    }

    @Test func `no way of printing shows the value`() {
        #expect(Self.renderings.count >= 11)
        for text in Self.renderings {
            #expect(!text.contains("canary") && !text.contains("101, 121"), "\(text)")
        }
    }

    @Test func `the description says that there is a secret`() {
        #expect("\(Secret(Self.canary))" == "<secret>")
        #expect(Secret(Self.canary).debugDescription == "<secret>")
        #expect(Mirror(reflecting: Secret(Self.canary)).children.isEmpty)
    }

    @Test func `expose gives the value back`() {
        #expect(Secret(Self.canary).expose() == Self.canary)
        #expect(Secret(1) == Secret(1))
        #expect(Secret(1) != Secret(2))
    }
}
