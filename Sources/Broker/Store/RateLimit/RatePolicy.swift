/// A named rate limit (GCRA): one permit comes back every step, and at most `burst` can be used at once.
struct RatePolicy: Sendable, Hashable {
    /// What the response headers and the log call it: printable ASCII.
    let name: String
    /// 1 to `maximumBurst`.
    let burst: Int
    /// 1 to `maximumStepMicroseconds`.
    let stepMicroseconds: Int64

    static let maximumBurst = 1_000_000
    /// One permit a day.
    static let maximumStepMicroseconds: Int64 = 86_400_000_000
    static let maximumNameBytes = 64

    /// Within the bounds the database keeps too. Checked where a declaration is read; the store
    /// refuses a record that breaks them.
    var isValid: Bool {
        (1...Self.maximumBurst).contains(burst)
            && (1...Self.maximumStepMicroseconds).contains(stepMicroseconds)
            && (1...Self.maximumNameBytes).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}
