import TestKit
import Testing

@testable import Broker

/// What is certain about another clock.
@Suite struct ClockComparisonTests {
    /// An exchange at `start` that takes `there` and `back`, with a clock that is `offset` behind and shows units of
    /// `resolution`.
    private func reading(
        offset: Int64, there: Int64, back: Int64, resolution: Int64 = 1
    ) -> ClockComparison {
        let start: Int64 = 1_800_000_000_000_000
        let shown = (start + there - offset) / resolution * resolution
        return ClockComparison(
            asked: start, answered: start + there + back, earliest: shown,
            latest: shown + resolution - 1)
    }

    @Test(arguments: 0..<300)
    func `it never says more than is certain, and misses no more than the exchange took`(seed: Int)
    {
        var random = SeededRandom(seed: UInt64(seed))
        let offset = Int64.random(in: -100_000_000...100_000_000, using: &random)
        let there = Int64.random(in: 0...20_000_000, using: &random)
        let back = Int64.random(in: 0...20_000_000, using: &random)
        let resolution: Int64 = Bool.random(using: &random) ? 1 : 1_000_000
        let ahead = reading(offset: offset, there: there, back: back, resolution: resolution).ahead
        #expect(ahead == 0 || ahead.signum() == offset.signum())
        #expect(ahead.magnitude <= offset.magnitude)
        #expect(offset.magnitude - ahead.magnitude <= UInt64(there + back + resolution))
    }

    @Test func `it is told in seconds, with the side it lies on`() {
        #expect(reading(offset: 0, there: 5, back: 5).text == "no difference to be seen")
        #expect(
            reading(offset: 3_500_000, there: 0, back: 0).text
                == "this machine's clock is 3.5 s ahead")
        #expect(
            reading(offset: -61_000_000, there: 0, back: 0).text
                == "this machine's clock is 61.0 s behind")
    }
}
