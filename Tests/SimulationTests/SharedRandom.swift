import TestKit

/// Chance for whoever takes part in a run.
///
/// Sendable: touched on the run's thread only.
final class SharedRandom: @unchecked Sendable {
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    func bytes(_ count: Int) -> [UInt8] { random.bytes(count: count) }
}
