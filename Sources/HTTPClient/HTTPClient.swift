import Dispatch
import Synchronization

/// HTTPS requests over libcurl: one request in, one outcome out. Nothing is retried, redirects are
/// answers like any other, and certificates are always verified.
///
/// Transfers block, so each runs on a worker's own queue; no Swift concurrency thread ever waits.
public final class HTTPClient: Sendable {
    /// For a module that has an `HTTPOutcome` of its own: this module's name is also this class's, so
    /// it cannot qualify one.
    public typealias Outcome = HTTPOutcome
    /// As `Outcome`.
    public typealias Answer = HTTPAnswer
    /// As `Outcome`.
    public typealias Loss = LossReason

    private let configuration: HTTPClientConfiguration
    private let workers: Mutex<Workers>

    private struct Workers {
        var idle: [Worker] = []
        var count = 0
        var waiting: [Job] = []
    }

    /// A client with no connection yet.
    public init(configuration: HTTPClientConfiguration = HTTPClientConfiguration()) {
        self.configuration = configuration
        workers = Mutex(Workers())
    }

    /// Sends one request and waits for its outcome. A cancelled task gets `lost(.cancelled)` at once.
    /// - Parameters:
    ///   - body: `nil` sends none; an empty array sends `Content-Length: 0`.
    ///   - maximumBodyBytes: another limit than the configuration's, for this answer.
    public func send(
        method: String, url: String, headers: [(name: String, value: String)] = [],
        body: [UInt8]? = nil, maximumBodyBytes: Int? = nil
    ) async -> HTTPOutcome {
        await send(exchange(method, url, headers, RequestBody(body), maximumBodyBytes))
    }

    /// The same with a body that is read while it is sent.
    /// - Parameter source: each call gives the next bytes, `nil` the end. Called one at a time on a thread that may block.
    ///   When it throws, the request is cut off: the peer never sees it whole.
    public func send(
        method: String, url: String, headers: [(name: String, value: String)] = [],
        source: @escaping @Sendable () throws -> [UInt8]?, maximumBodyBytes: Int? = nil
    ) async -> HTTPOutcome {
        await send(
            exchange(method, url, headers, .stream(StreamedBody(source)), maximumBodyBytes))
    }

    /// The same for a caller that owns its thread. Never call it from a Swift concurrency thread.
    public func sendAndWait(
        method: String, url: String, headers: [(name: String, value: String)] = [],
        body: [UInt8]? = nil, maximumBodyBytes: Int? = nil
    ) -> HTTPOutcome {
        wait(exchange(method, url, headers, RequestBody(body), maximumBodyBytes))
    }

    /// The same with a body that is read while it is sent.
    public func sendAndWait(
        method: String, url: String, headers: [(name: String, value: String)] = [],
        source: @escaping @Sendable () throws -> [UInt8]?, maximumBodyBytes: Int? = nil
    ) -> HTTPOutcome {
        wait(exchange(method, url, headers, .stream(StreamedBody(source)), maximumBodyBytes))
    }

    private func wait(_ exchange: Exchange) -> HTTPOutcome {
        let job = Job(exchange)
        let done = DispatchSemaphore(value: 0)
        job.whenDone { _ in done.signal() }
        start(job)
        done.wait()
        return job.outcome ?? .lost(.broken)
    }

    private func send(_ exchange: Exchange) async -> HTTPOutcome {
        let job = Job(exchange)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                job.whenDone { continuation.resume(returning: $0) }
                start(job)
            }
        } onCancel: {
            job.abandon()
        }
    }

    private func exchange(
        _ method: String, _ url: String, _ headers: [(name: String, value: String)],
        _ body: RequestBody, _ maximumBodyBytes: Int?
    ) -> Exchange {
        Exchange(
            method: method, url: url, headers: headers, body: body,
            maximumBodyBytes: maximumBodyBytes ?? configuration.maximumBodyBytes)
    }

    /// Hands the job to a worker: one that already has a connection to its host, else any idle one,
    /// else a new one, else it waits in line.
    private func start(_ job: Job) {
        let worker: Worker? = workers.withLock { workers in
            let target = Target(job.exchange.url)
            if let known = workers.idle.lastIndex(where: { $0.lastTarget == target }) {
                return workers.idle.remove(at: known)
            }
            if workers.count < configuration.maximumConcurrent,
                let handle = EasyHandle(configuration)
            {
                workers.count += 1
                return Worker(handle)
            }
            if let other = workers.idle.popLast() { return other }
            workers.waiting.append(job)
            return nil
        }
        if let worker { run(job, on: worker) }
    }

    private func run(_ job: Job, on worker: Worker) {
        worker.queue.async {
            let outcome = worker.perform(job.exchange)
            // Before the caller learns the outcome: its next request is to find this connection.
            let next: Job? = self.workers.withLock { workers in
                if workers.waiting.isEmpty {
                    workers.idle.append(worker)
                    return nil
                }
                return workers.waiting.removeFirst()
            }
            job.finish(outcome)
            if let next { self.run(next, on: worker) }
        }
    }
}

/// One easy handle and the serial queue on which it is used.
/// Sendable: `lastTarget` is written on `queue` while the worker is busy and read only while it is idle,
/// ordered by the client's lock.
private final class Worker: @unchecked Sendable {
    let queue = DispatchQueue(label: "http-client.worker")
    private let handle: EasyHandle
    private(set) var lastTarget: Target?

    init(_ handle: EasyHandle) { self.handle = handle }

    func perform(_ exchange: Exchange) -> HTTPOutcome {
        lastTarget = Target(exchange.url)
        return exchange.isAbandoned.load(ordering: .relaxed)
            ? .unsent(.cancelled) : handle.perform(exchange)
    }
}

/// An exchange and whoever waits for it. The first outcome counts.
private final class Job: Sendable {
    let exchange: Exchange
    private let state = Mutex(State())

    private struct State {
        var outcome: HTTPOutcome?
        var waiter: (@Sendable (HTTPOutcome) -> Void)?
    }

    init(_ exchange: Exchange) { self.exchange = exchange }

    var outcome: HTTPOutcome? { state.withLock { $0.outcome } }

    func whenDone(_ waiter: @escaping @Sendable (HTTPOutcome) -> Void) {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.waiter = waiter }
            return state.outcome
        }
        if let outcome { waiter(outcome) }
    }

    func finish(_ outcome: HTTPOutcome) {
        let waiter: (@Sendable (HTTPOutcome) -> Void)? = state.withLock { state in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?(outcome)
    }

    /// The caller stops waiting at once; the worker notices within a second.
    func abandon() {
        exchange.isAbandoned.store(true, ordering: .relaxed)
        finish(.lost(.cancelled))
    }
}
