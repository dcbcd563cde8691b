#if canImport(Darwin)
    import Foundation

    /// The network on Apple platforms. Not run on a device: only what the build can check is known.
    public final class URLSessionTransport: HTTPTransport {
        private let session: URLSession

        /// Times are those of R-100-23; no cookies, no cache, no redirect.
        public init() {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = 30
            configuration.timeoutIntervalForResource = 60
            configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
            configuration.httpCookieStorage = nil
            configuration.urlCache = nil
            session = URLSession(
                configuration: configuration, delegate: NoRedirects(), delegateQueue: nil)
        }

        /// Waits for the outcome without blocking the thread.
        public func send(_ request: HTTPRequest) async -> HTTPOutcome {
            guard let url = URL(string: request.url), let body = try? request.body.read() else {
                return .unsent(.invalidRequest)
            }
            var native = URLRequest(url: url)
            native.httpMethod = request.method
            native.httpBody = body.bytes.map { Data($0) }
            for header in request.headers {
                native.addValue(header.value, forHTTPHeaderField: header.name)
            }
            do {
                let (data, response) = try await session.data(for: native)
                guard let response = response as? HTTPURLResponse else { return .lost(.broken) }
                let headers = response.allHeaderFields.compactMap { name, value in
                    (name as? String).map { HTTPHeader($0, "\(value)") }
                }
                let isOversized = data.count > request.maximumAnswerBytes
                return .answer(
                    HTTPAnswer(
                        status: response.statusCode, headers: headers,
                        body: isOversized ? [] : Array(data), isOversized: isOversized))
            } catch let error as URLError {
                return Self.outcome(of: error)
            } catch {
                return .lost(.broken)
            }
        }

        private static func outcome(of error: URLError) -> HTTPOutcome {
            switch error.code {
            case .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet:
                .unsent(.unreachable)
            case .secureConnectionFailed, .serverCertificateUntrusted,
                .serverCertificateHasUnknownRoot, .serverCertificateHasBadDate:
                .unsent(.insecure)
            case .timedOut: .lost(.timedOut)
            case .cancelled: .lost(.cancelled)
            default: .lost(.broken)
            }
        }
    }

    /// R-100-24: a redirect is an answer.
    private final class NoRedirects: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest
        ) async -> URLRequest? { nil }
    }
#endif
