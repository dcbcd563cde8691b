import Foundation

#if !canImport(Darwin)
    import FoundationNetworking
#endif

/// The network by `URLSession`: the only one on Apple platforms, where it was type-checked only, and the second on Linux
/// (ADR 0022). It trusts the authorities that the system trusts.
///
/// Each request has a session of its own, and so a connection of its own. A session that keeps connections sends a request
/// again by itself when a kept one breaks, and no proof may be presented twice (R-100-31).
///
/// Header fields that came several times reach the caller as one, joined by commas. A loss for a certificate's sake is told as
/// any other, since `URLSession` on Linux does not say why.
public struct URLSessionTransport: HTTPTransport {
    private let readTimeout: Int
    private let totalTimeout: Int
    private let allowInsecureLoopback: Bool

    /// Times are seconds; the defaults are those of R-100-23. There is no time for connecting alone: `readTimeout` covers it.
    public init(
        readTimeout: Int = 30, totalTimeout: Int = 60, allowInsecureLoopback: Bool = false
    ) {
        self.readTimeout = readTimeout
        self.totalTimeout = totalTimeout
        self.allowInsecureLoopback = allowInsecureLoopback
    }

    /// Waits for the outcome without blocking the thread. A cancelled task gets `lost(.cancelled)`: at
    /// once, unless a body's source is being asked on Linux, which has to return first.
    public func send(_ request: HTTPRequest) async -> HTTPOutcome {
        guard let native = native(request) else { return .unsent(.invalidRequest) }
        let exchange = URLSessionExchange(maximumAnswerBytes: request.maximumAnswerBytes)
        return await withTaskCancellationHandler {
            await exchange.run(native, configuration, totalTimeout: totalTimeout)
        } onCancel: {
            exchange.end(.lost(.cancelled))
        }
    }

    /// No cookies, no cache, no stored credentials: nothing of one request is there for the next.
    private var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = TimeInterval(readTimeout)
        configuration.timeoutIntervalForResource = TimeInterval(totalTimeout)
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        #if canImport(Darwin)
            configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
        #endif
        return configuration
    }

    /// - Returns: `nil` for what cannot or may not be sent: another scheme (R-100-25), a header that would break out of its
    ///   line, a path with dot segments, a GET or HEAD with a body.
    private func native(_ request: HTTPRequest) -> URLRequest? {
        guard RequestURL(request.url)?.isAllowed(insecureLoopback: allowInsecureLoopback) == true,
            !Self.hasDotSegment(request.url), let url = URL(string: request.url),
            Self.isToken(request.method)
        else { return nil }
        var native = URLRequest(url: url)
        native.httpMethod = request.method
        for header in request.wireHeaders {
            guard Self.isToken(header.name), Self.isClean(header.value) else { return nil }
            native.addValue(header.value, forHTTPHeaderField: header.name)
        }
        switch request.body {
        case .none: return native
        case .bytes(let bytes): native.httpBody = Data(bytes)
        case .oneShot(let source): native.httpBodyStream = OneShotStream.make(source)
        }
        return ["GET", "HEAD"].contains(request.method) ? nil : native
    }

    /// Whether `URLSession` would shorten the path (RFC 3986 §5.2.4), so that another one is asked for than the proof names.
    private static func hasDotSegment(_ url: String) -> Bool {
        url.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").contains { segment in
            [".", ".."].contains(segment.lowercased().replacing("%2e", with: "."))
        }
    }

    /// RFC 9110 §5.6.2.
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// No CR, LF or NUL (RFC 9110 §5.5), nor another control character.
    private static func isClean(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 == 9 || ($0 >= 32 && $0 != 127) }
    }
}
