/// A tenant's name: 1 to 64 of `a-z A-Z 0-9 . _ -`.
struct TenantId: Hashable, Sendable, Comparable, CustomStringConvertible {
    let rawValue: String

    init?(_ text: String) {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.allowed.contains) else {
            return nil
        }
        rawValue = text
    }

    var description: String { rawValue }

    static func < (left: TenantId, right: TenantId) -> Bool { left.rawValue < right.rawValue }

    private static let allowed = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-".utf8)
}
