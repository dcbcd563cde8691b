import HTTPClient

/// One request to a provider.
struct ProviderRequest: Sendable {
    let method: String
    let url: String
    let headers: [(name: String, value: String)]
    /// `nil` sends none.
    let body: [UInt8]?

    /// A document that anybody may read.
    static func get(_ url: String) -> ProviderRequest {
        ProviderRequest(
            method: "GET", url: url, headers: [("Accept", "application/json")], body: nil)
    }

    /// A form (RFC 6749 appendix B).
    static func post(
        _ url: String, form: [(name: String, value: String)],
        headers: [(name: String, value: String)] = []
    ) -> ProviderRequest {
        ProviderRequest(
            method: "POST", url: url,
            headers: headers + [
                ("Content-Type", "application/x-www-form-urlencoded"),
                ("Accept", "application/json"),
            ],
            body: Array(
                form.map { "\(escaped($0.name))=\(escaped($0.value))" }.joined(separator: "&").utf8)
        )
    }

    private static func escaped(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF")
        return text.utf8.reduce(into: "") { result, octet in
            switch octet {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e:
                result.unicodeScalars.append(Unicode.Scalar(octet))
            default: result += "%\(digits[Int(octet >> 4)])\(digits[Int(octet & 15)])"
            }
        }
    }
}

/// Sends a request to a provider, in bounded time.
typealias ProviderFetcher = @Sendable (ProviderRequest) async -> HTTPOutcome

extension HTTPClient {
    /// A client for a command's few requests: answers of 1 MiB at most, each within ten seconds. Plain `http` goes to loopback
    /// hosts only, where development providers listen.
    ///
    /// - Parameters:
    ///   - caFile: PEM file of the only authorities to trust; `nil` trusts the system's.
    ///   - usesProxy: whether to go through the proxies that the environment names.
    static func forProviders(caFile: String?, usesProxy: Bool = false) -> HTTPClient {
        HTTPClient(
            configuration: HTTPClientConfiguration(
                caFile: caFile, connectTimeout: 5, readTimeout: 10, totalTimeout: 10,
                allowInsecureLoopback: true, usesProxy: usesProxy))
    }

    /// Sends the request.
    func fetch(_ request: ProviderRequest) async -> HTTPOutcome {
        await send(
            method: request.method, url: request.url, headers: request.headers, body: request.body)
    }
}

extension LossReason {
    /// For a person: "the certificate is not trusted".
    var explanation: String {
        switch self {
        case .invalidRequest: "the URL cannot be used"
        case .unresolved: "its host name has no address"
        case .unreachable: "no connection"
        case .insecure: "the TLS handshake failed or the certificate is not trusted"
        case .timedOut: "no answer in time"
        case .broken: "the connection was closed without an answer"
        case .cancelled: "cancelled"
        }
    }
}
