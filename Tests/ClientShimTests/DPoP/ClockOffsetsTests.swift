import Testing

@testable import ClientShim

@Suite struct ClockOffsetsTests {
    private func learn(_ offset: Int64, _ offsets: ClockOffsets) -> ClockOffsets.Lesson {
        let now: Int64 = 1_800_000_000
        let answer = HTTPAnswer(
            status: 200, headers: [HTTPHeader("Date", FakeProvider.date(now + offset))])
        return offsets.learn(answer, from: "https://idp.example:443", now: now)
    }

    @Test(arguments: [0, 5, -5] as [Int64])
    func `R-100-35 up to five seconds are not corrected`(_ offset: Int64) {
        let offsets = ClockOffsets()
        #expect(learn(offset, offsets) == .none)
        #expect(offsets.offset(for: "https://idp.example:443") == 0)
    }

    @Test(arguments: [6, -6, 86_400, -86_400] as [Int64])
    func `R-100-35 up to a day is applied, to that origin alone`(_ offset: Int64) {
        let offsets = ClockOffsets()
        #expect(learn(offset, offsets) == .applied(offset))
        #expect(offsets.offset(for: "https://idp.example:443") == offset)
        #expect(offsets.offset(for: "https://api.example:443") == 0)
        _ = learn(0, offsets)
        #expect(offsets.offset(for: "https://idp.example:443") == 0)
    }

    @Test(arguments: [86_401, -86_401, 1_000_000_000] as [Int64])
    func `R-100-35 more than a day is reported and not applied`(_ offset: Int64) {
        let offsets = ClockOffsets()
        #expect(learn(offset, offsets) == .tooLarge(offset))
        #expect(offsets.offset(for: "https://idp.example:443") == 0)
    }
}
