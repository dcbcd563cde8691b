import JOSE
import Synchronization
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
    }

    /// Counts how often it is compared, and by whom.
    private struct Watched: ConstantTimeComparable, Equatable {
        static let comparisons = Atomic(0)

        static func equalsInConstantTime(_ left: Self, _ right: Self) -> Bool {
            comparisons.add(1, ordering: .relaxed)
            return true
        }

        static func == (left: Self, right: Self) -> Bool { false }
    }

    @Test func `R-100-73 two secrets are compared in constant time, and in no other way`() {
        #expect(Secret(Watched()) == Secret(Watched()))
        #expect(Watched.comparisons.load(ordering: .relaxed) == 1)
    }

    @Test(arguments: [
        ("", "", true), ("a", "a", true), ("a", "b", false), ("a", "ab", false), ("", "a", false),
        ("\u{e9}", "e\u{301}", false),
    ])
    func `texts and octets are equal when every octet is`(
        left: String, right: String, areEqual: Bool
    ) {
        #expect((Secret(left) == Secret(right)) == areEqual)
        #expect((Secret(Array(left.utf8)) == Secret(Array(right.utf8))) == areEqual)
    }
}
