import Testing

@testable import Broker

@Suite struct RequestIdTests {
    static let id = "4bf92f3577b34da6a3ce929d0e0e4736"

    @Test(arguments: [
        "00-\(id)-00f067aa0ba902b7-01", "00-\(id)-00f067aa0ba902b7-00",
        "cc-\(id)-00f067aa0ba902b7-01-what-the-future-will-be-like",
    ])
    func `the trace id of a valid traceparent is taken (Trace Context §3.2)`(_ field: String) {
        #expect(RequestId.choose(traceparent: field) == Self.id)
    }

    @Test(arguments: [
        "", "-", "---", "00", "00-\(id)", "00-\(id)-00f067aa0ba902b7",
        "ff-\(id)-00f067aa0ba902b7-01", "00-\(id)-00f067aa0ba902b7-01-x",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-\(id)-0000000000000000-01", "00-\(id.uppercased())-00f067aa0ba902b7-01",
        "00-\(id.dropLast())-00f067aa0ba902b7-01", "00-\(id)0-00f067aa0ba902b7-01",
        "00-\(id.dropLast())g-00f067aa0ba902b7-01", "0-\(id)-00f067aa0ba902b7-01",
        "00-\(id)-00f067aa0ba902b7-1", "00-\(id)-00f067aa0ba902b7-zz",
        " 00-\(id)-00f067aa0ba902b7-01", "00-\(id)-00f067aa0ba902b7-01 ",
        "00-\(id.dropLast())é-00f067aa0ba902b7-01",
    ])
    func `anything else gets an id of our own`(_ field: String) {
        let ids = (0..<2).map { _ in RequestId.choose(traceparent: field) }
        #expect(ids.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{32}/) != nil && $0 != Self.id })
        #expect(ids[0] != ids[1])
    }

    @Test func `ids without a trace do not repeat`() {
        let ids = Set((0..<10_000).map { _ in RequestId.choose(traceparent: nil) })
        #expect(ids.count == 10_000)
    }
}
