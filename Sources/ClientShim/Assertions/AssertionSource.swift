import JOSE
import Synchronization

/// Calls a provider the way R-101 wants: on a worker thread, with a limit, checked, never cached.
final class AssertionSource: Sendable {
    static let limitMilliseconds: Int64 = 20_000

    private let clock: any AuthnClock
    private let threads: SDKThreads
    private let check = ClientAssertionCheck()

    init(clock: any AuthnClock, threads: SDKThreads = .own()) {
        self.clock = clock
        self.threads = threads
    }

    /// One assertion for one HTTP attempt.
    func assertion(
        from provider: any ClientAssertionProvider, _ request: ClientAssertionRequest
    ) async throws(ClientAssertionError) -> Secret<String> {
        let result = await call(provider, request)
        let assertion = try result.get()
        try check.check(assertion, for: request)
        return assertion
    }

    private typealias Answer = Result<Secret<String>, ClientAssertionError>

    private func call(
        _ provider: any ClientAssertionProvider, _ request: ClientAssertionRequest
    ) async -> Answer {
        let slot = FirstAnswer<Answer>()
        threads.callBlocking {
            do {
                slot.fill(.success(Secret(try provider.clientAssertion(request: request))))
            } catch let error as ClientAssertionError {
                slot.fill(.failure(error))
            } catch {
                // A stranger's error could print anything, so only its type is kept.
                slot.fill(.failure(.Unavailable(details: "provider threw \(type(of: error))")))
            }
        }
        let timer = Task(executorPreference: threads.executor) { [clock] in
            guard (try? await clock.sleep(milliseconds: Self.limitMilliseconds)) != nil else {
                return
            }
            slot.fill(.failure(.Unavailable(details: "provider did not answer in 20 seconds")))
        }
        defer { timer.cancel() }
        return await slot.value()
    }
}
