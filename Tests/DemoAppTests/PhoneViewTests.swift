import Testing

@testable import DemoApp

@Suite struct PhoneViewTests {
    private static let scan = Stage.scan(
        Stage.Scan(mismatches: 0, mismatchesMax: 3, lastError: nil, secondsLeft: 300))

    private func view(_ events: PhoneEvent...) -> PhoneView {
        var view = PhoneView()
        for event in events { view.apply(event) }
        return view
    }

    @Test func `a wait is over when the state is there`() {
        let view = view(.asked, .stage(.starting), .stage(Self.scan))
        #expect(view.answer(to: .scan) == .reached)
        #expect(view.answer(to: .done) == .reached)
    }

    @Test func `a wait goes on while something moves`() {
        #expect(view(.stage(.starting)).answer(to: .signedIn) == .notYet)
        #expect(view(.stage(.starting)).answer(to: .done) == .notYet)
        #expect(view(.stage(.posting)).answer(to: .posting) == .reached)
        #expect(view(.stage(.signedIn), .began("a call")).answer(to: .done) == .notYet)
        #expect(view(.began("a call"), .ended("200")).answer(to: .done) == .reached)
    }

    @Test func `the state before a picture was shown is not the one after it`() {
        #expect(view(.stage(Self.scan), .asked).answer(to: .scan) == .notYet)
        #expect(view(.stage(Self.scan), .asked, .stage(.checking)).answer(to: .scan) == .notYet)
        #expect(
            view(.stage(Self.scan), .asked, .stage(.checking), .stage(Self.scan))
                .answer(to: .scan) == .reached)
    }

    @Test func `what only a person could bring about never comes by itself`() {
        #expect(view(.stage(.failed("network"))).answer(to: .signedIn) == .never)
        #expect(view(.stage(Self.scan)).answer(to: .signedIn) == .never)
        #expect(view().answer(to: .scan) == .never)
    }

    @Test func `with the process everything it was doing is over`() {
        let view = view(.stage(.posting), .began("a call"), .asked, .died, .stage(.idle))
        #expect(view.answer(to: .done) == .reached)
        #expect(view.running == 0)
    }
}
