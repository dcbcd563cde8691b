import Foundation
import Synchronization

#if !canImport(Darwin)
    import FoundationNetworking
#endif

/// One request and what has come back of it so far. The first outcome counts.
final class URLSessionExchange: NSObject, URLSessionDataDelegate {
    private struct Received {
        var body: [UInt8] = []
        var isComplete = false
    }

    private let maximumAnswerBytes: Int
    private let received = Mutex(Received())
    private let outcome = FirstAnswer<HTTPOutcome>()

    init(maximumAnswerBytes: Int) { self.maximumAnswerBytes = maximumAnswerBytes }

    /// Sends the request and waits for its outcome; nothing of it goes on afterwards.
    /// - Parameter totalTimeout: seconds; `URLSession` on Linux has no limit of its own for a whole request.
    func run(
        _ request: URLRequest, _ configuration: URLSessionConfiguration, totalTimeout: Int
    ) async -> HTTPOutcome {
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        let deadline = Task {
            try await Task.sleep(for: .seconds(totalTimeout), clock: .continuous)
            end(.lost(.timedOut))
        }
        session.dataTask(with: request).resume()
        let result = await outcome.value()
        deadline.cancel()
        if received.withLock({ $0.isComplete }) {
            session.finishTasksAndInvalidate()
        } else {
            session.invalidateAndCancel()
        }
        return result
    }

    /// Whoever waits gets that outcome, unless there is one already.
    func end(_ result: HTTPOutcome) { outcome.fill(result) }

    /// R-100-24: a redirect is an answer.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isOversized = received.withLock { received in
            received.body += data
            return received.body.count > maximumAnswerBytes
        }
        guard isOversized, let response = dataTask.response as? HTTPURLResponse else { return }
        end(.answer(HTTPAnswer(response, body: [], isOversized: true)))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        let body = received.withLock { received in
            received.isComplete = true
            return received.body
        }
        if let error {
            // Nothing, when there is an answer already: it was cancelled then.
            end((error as? URLError).map { HTTPOutcome($0.code) } ?? .lost(.broken))
        } else if let response = task.response as? HTTPURLResponse {
            // On Linux a redirect without a `Location` is told here only, and has lost its body.
            end(.answer(HTTPAnswer(response, body: body, isOversized: false)))
        } else {
            end(.lost(.broken))
        }
    }

    #if !canImport(Darwin)
        /// A 401 that names Basic or Digest is an answer like any other. Without this, `URLSession` on Linux looks for a
        /// credential, finds none, and never says another word.
        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let body = received.withLock { $0.body }
            let response = task.response as? HTTPURLResponse
            end(
                response.map { .answer(HTTPAnswer($0, body: body, isOversized: false)) }
                    ?? .lost(.broken))
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    #endif
}

extension HTTPAnswer {
    fileprivate init(_ response: HTTPURLResponse, body: [UInt8], isOversized: Bool) {
        self.init(
            status: response.statusCode,
            headers: response.allHeaderFields.compactMap { name, value in
                (name as? String).map { HTTPHeader($0, "\(value)") }
            },
            body: body, isOversized: isOversized)
    }
}

extension HTTPOutcome {
    /// Unsent is only what provably never left. On Linux "cannot connect" is said too when a second address of the host took
    /// the request and then went away.
    fileprivate init(_ code: URLError.Code) {
        #if canImport(Darwin)
            let unreachable = HTTPOutcome.unsent(.unreachable)
        #else
            let unreachable = HTTPOutcome.lost(.unreachable)
        #endif
        self =
            switch code {
            case .cannotConnectToHost: unreachable
            case .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet: .unsent(.unreachable)
            case .secureConnectionFailed, .serverCertificateUntrusted,
                .serverCertificateHasUnknownRoot, .serverCertificateHasBadDate:
                .unsent(.insecure)
            case .timedOut: .lost(.timedOut)
            case .cancelled: .lost(.cancelled)
            default: .lost(.broken)
            }
    }
}
