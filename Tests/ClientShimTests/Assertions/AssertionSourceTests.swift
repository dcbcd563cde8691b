import Dispatch
import Foundation
import JOSE
import Synchronization
import Testing

@testable import ClientShim

@Suite struct AssertionSourceTests {
    private let request = ClientAssertionRequest(
        clientId: "app", audience: "https://idp.example", dpopJkt: "jkt")

    private struct Provider: ClientAssertionProvider {
        let body: @Sendable (ClientAssertionRequest) throws -> String
        func clientAssertion(request: ClientAssertionRequest) throws -> String { try body(request) }
    }

    @Test func `R-101-03 the call is neither on the main thread nor on a cooperative one`()
        async throws
    {
        let places = Mutex<[String]>([])
        let provider = Provider { request in
            // A cooperative thread would run this inside a task.
            let isTask = withUnsafeCurrentTask { $0 != nil }
            places.withLock { $0.append("main \(Thread.isMainThread), task \(isTask)") }
            return FakeAssertions.assertion(for: request, jti: "1")
        }
        _ = try await AssertionSource(clock: ManualClock()).assertion(from: provider, request)
        #expect(places.withLock { $0 } == ["main false, task false"])
    }

    @Test func `R-101-04 a call that has not returned after twenty seconds is unavailable`() async {
        let clock = ManualClock()
        let hold = DispatchSemaphore(value: 0)
        let isAsked = Mutex(false)
        let provider = Provider { request in
            isAsked.withLock { $0 = true }
            hold.wait()
            return FakeAssertions.assertion(for: request, jti: "1")
        }
        let source = AssertionSource(clock: clock)
        let call = Task { () -> Bool in
            (try? await source.assertion(from: provider, request)) == nil
        }
        #expect(await eventually { isAsked.withLock { $0 } && clock.sleeperCount == 1 })
        clock.advance(seconds: 19)
        #expect(clock.sleeperCount == 1)
        clock.advance(seconds: 1)
        #expect(await call.value)
        hold.signal()
    }

    @Test func `R-101-05 R-101-06 any error counts as unavailable and shows only its type`() async {
        struct Talkative: Error, CustomStringConvertible {
            var description: String { "secret-text" }
        }
        let provider = Provider { _ in throw Talkative() }
        let error = await #expect(throws: ClientAssertionError.self) {
            try await AssertionSource(clock: ManualClock()).assertion(from: provider, request)
        }
        guard case .Unavailable(let details) = error else { return }
        #expect(!details.contains("secret-text"))
    }

    @Test func `R-101-02 R-101-09 the same assertion twice is refused`() async throws {
        let provider = Provider { FakeAssertions.assertion(for: $0, jti: "same") }
        let source = AssertionSource(clock: ManualClock())
        _ = try await source.assertion(from: provider, request)
        await #expect(throws: ClientAssertionError.self) {
            try await source.assertion(from: provider, request)
        }
    }
}
