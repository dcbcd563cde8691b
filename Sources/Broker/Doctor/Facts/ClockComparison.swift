/// One look at another machine's clock, over a network that took its time.
///
/// Its own times frame the moment at which the other clock was read, and the other clock has a resolution, so what is known
/// is a range; the smallest difference in it is what counts. A slow network never makes a clock look wrong.
struct ClockComparison: Sendable, Equatable {
    /// Before the question and after the answer, microseconds since 1970 UTC on this machine.
    let asked: Int64
    let answered: Int64
    /// The earliest and the latest time the other clock may have shown, microseconds since 1970 UTC.
    let earliest: Int64
    let latest: Int64

    /// Microseconds this machine's clock is surely ahead of the other; negative: behind; 0 when they may agree.
    var ahead: Int64 {
        let least = asked - latest
        let most = answered - earliest
        if least > 0 { return least }
        return most < 0 ? most : 0
    }

    /// The difference for people.
    var text: String {
        let milliseconds = ahead.magnitude / 1000
        let seconds = "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
        if ahead == 0 { return "no difference to be seen" }
        return "this machine's clock is \(seconds) \(ahead > 0 ? "ahead" : "behind")"
    }
}
