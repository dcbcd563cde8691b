/// Pauses between attempts to connect: doubling up to a limit, each cut by up to half at random so that the
/// lanes of all replicas do not come back in step.
struct Backoff: Sendable {
    let shortest: Int
    let longest: Int
    private var failures = 0

    init(shortest: Int, longest: Int) {
        self.shortest = max(1, shortest)
        self.longest = max(self.shortest, longest)
    }

    mutating func succeeded() {
        failures = 0
    }

    /// Milliseconds to wait after one more failure.
    mutating func failed(using random: inout some RandomNumberGenerator) -> Int {
        let doubled = shortest << min(failures, 16)
        failures += 1
        let pause = min(longest, doubled)
        return pause - Int.random(in: 0...pause / 2, using: &random)
    }
}
