/// A named rate limit (GCRA): one permit comes back every step, and at most `burst` can be used at once.
struct RatePolicy: Sendable, Hashable {
    /// What the response headers and the log call it: printable ASCII.
    let name: String
    /// 1 to `maximumBurst`.
    let burst: Int
    /// 1 to `maximumStepMicroseconds`.
    let stepMicroseconds: Int64
    /// What the store keeps its state by, printable ASCII: the name, unless the policy is another's stand-in.
    let state: String

    /// - Parameter state: the name unless given.
    init(name: String, burst: Int, stepMicroseconds: Int64, state: String? = nil) {
        self.name = name
        self.burst = burst
        self.stepMicroseconds = stepMicroseconds
        self.state = state ?? name
    }

    static let maximumBurst = 1_000_000
    /// One permit a day.
    static let maximumStepMicroseconds: Int64 = 86_400_000_000
    static let maximumNameBytes = 64

    /// Within the bounds the database keeps too. Checked where a declaration is read; the store
    /// refuses a record that breaks them.
    var isValid: Bool {
        (1...Self.maximumBurst).contains(burst)
            && (1...Self.maximumStepMicroseconds).contains(stepMicroseconds)
            && RecordForm.isName(name, upTo: Self.maximumNameBytes)
            && RecordForm.isName(state, upTo: Self.maximumNameBytes)
    }
}
