#if os(Linux)
    import HTTPClient

    /// The network on Linux: libcurl, with the certificate authority the host names (ADR 0004).
    public struct CurlTransport: HTTPTransport {
        private let client: HTTPClient
        let configuration: HTTPClientConfiguration

        /// Times are seconds; the defaults are those of R-100-23.
        /// - Parameter caFile: PEM file of the only authorities to trust; `nil` trusts the system's.
        public init(
            caFile: String? = nil, connectTimeout: Int = 10, readTimeout: Int = 30,
            totalTimeout: Int = 60, allowInsecureLoopback: Bool = false
        ) {
            configuration = HTTPClientConfiguration(
                caFile: caFile, connectTimeout: connectTimeout, readTimeout: readTimeout,
                totalTimeout: totalTimeout, allowInsecureLoopback: allowInsecureLoopback)
            client = HTTPClient(configuration: configuration)
        }

        /// Waits for the outcome without blocking the thread.
        public func send(_ request: HTTPRequest) async -> HTTPOutcome {
            let headers = request.wireHeaders.map { ($0.name, $0.value) }
            if case .oneShot(let source) = request.body {
                return HTTPOutcome(
                    await client.send(
                        method: request.method, url: request.url, headers: headers, source: source,
                        maximumBodyBytes: request.maximumAnswerBytes))
            }
            return HTTPOutcome(
                await client.send(
                    method: request.method, url: request.url, headers: headers,
                    body: request.body.bytes, maximumBodyBytes: request.maximumAnswerBytes))
        }

        /// Blocks until the outcome is there.
        public func sendAndWait(_ request: HTTPRequest) -> HTTPOutcome {
            let headers = request.wireHeaders.map { ($0.name, $0.value) }
            if case .oneShot(let source) = request.body {
                return HTTPOutcome(
                    client.sendAndWait(
                        method: request.method, url: request.url, headers: headers, source: source,
                        maximumBodyBytes: request.maximumAnswerBytes))
            }
            return HTTPOutcome(
                client.sendAndWait(
                    method: request.method, url: request.url, headers: headers,
                    body: request.body.bytes, maximumBodyBytes: request.maximumAnswerBytes))
        }
    }

    extension HTTPBody {
        fileprivate var bytes: [UInt8]? {
            if case .bytes(let bytes) = self { bytes } else { nil }
        }
    }

    extension HTTPOutcome {
        fileprivate init(_ outcome: HTTPClient.Outcome) {
            self =
                switch outcome {
                case .answer(let answer): .answer(HTTPAnswer(answer))
                case .lost(let reason): .lost(LossReason(reason))
                case .unsent(let reason): .unsent(LossReason(reason))
                }
        }
    }

    extension HTTPAnswer {
        fileprivate init(_ answer: HTTPClient.Answer) {
            self.init(
                status: answer.status,
                headers: answer.headers.all.map { HTTPHeader($0.name, $0.value) },
                body: answer.body, isOversized: answer.isOversized)
        }
    }

    extension LossReason {
        fileprivate init(_ reason: HTTPClient.Loss) {
            self =
                switch reason {
                case .invalidRequest: .invalidRequest
                case .unresolved, .unreachable: .unreachable
                case .insecure: .insecure
                case .timedOut: .timedOut
                case .broken: .broken
                case .cancelled: .cancelled
                }
        }
    }
#endif
