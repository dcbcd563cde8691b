import CCurl

/// One libcurl easy handle with its kept-alive connections.
/// Sendable: a handle belongs to one `Worker`, which uses it on its own serial queue only.
final class EasyHandle: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer
    private let configuration: HTTPClientConfiguration

    /// libcurl's process-wide state; made once, before the first handle.
    private static let libraryIsReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// - Returns: `nil` when libcurl is out of memory.
    init?(_ configuration: HTTPClientConfiguration) {
        guard Self.libraryIsReady, let handle = curl_easy_init() else { return nil }
        self.handle = handle
        self.configuration = configuration
    }

    deinit { curl_easy_cleanup(handle) }

    /// Runs one exchange to its end. Blocks.
    func perform(_ exchange: Exchange) -> HTTPOutcome {
        guard let target = Target(exchange.url), target.isAllowed(configuration) else {
            return .unsent(.invalidRequest)
        }
        guard let lines = HeaderLines(exchange) else { return .unsent(.invalidRequest) }
        curl_easy_reset(handle)  // options go, connections stay
        guard prepare(for: exchange, lines: lines) else { return .unsent(.invalidRequest) }
        let code = withExtendedLifetime((exchange, lines)) { curl_easy_perform(handle) }
        return outcome(of: exchange, code)
    }

    private func prepare(for exchange: Exchange, lines: HeaderLines) -> Bool {
        let context = Unmanaged.passUnretained(exchange).toOpaque()
        return set(CURLOPT_URL, exchange.url)
            && set(CURLOPT_PATH_AS_IS, 1)  // a proof names the path as its URL has it
            && set(CURLOPT_PROTOCOLS_STR, "http,https")  // `Target` decides about plain http
            && set(CURLOPT_FOLLOWLOCATION, 0)
            && set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
            && set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
            && set(CURLOPT_SSL_VERIFYPEER, 1) && set(CURLOPT_SSL_VERIFYHOST, 2)
            && setTrust()
            && set(CURLOPT_NOPROXY, configuration.usesProxy ? "localhost,127.0.0.1,::1" : "*")
            && set(CURLOPT_NOSIGNAL, 1)  // no SIGALRM: this is a threaded program
            && set(CURLOPT_CONNECTTIMEOUT, configuration.connectTimeout)
            && set(CURLOPT_LOW_SPEED_LIMIT, 1)
            && set(CURLOPT_LOW_SPEED_TIME, configuration.readTimeout)
            && set(CURLOPT_TIMEOUT, configuration.totalTimeout)
            && ccurl_setopt_write(handle, CURLOPT_HEADERFUNCTION, headerCallback) == CURLE_OK
            && ccurl_setopt_pointer(handle, CURLOPT_HEADERDATA, context) == CURLE_OK
            && ccurl_setopt_write(handle, CURLOPT_WRITEFUNCTION, bodyCallback) == CURLE_OK
            && ccurl_setopt_pointer(handle, CURLOPT_WRITEDATA, context) == CURLE_OK
            && ccurl_setopt_prereq(handle, issueCallback) == CURLE_OK
            && ccurl_setopt_pointer(handle, CURLOPT_PREREQDATA, context) == CURLE_OK
            && ccurl_setopt_progress(handle, progressCallback) == CURLE_OK
            && ccurl_setopt_pointer(handle, CURLOPT_XFERINFODATA, context) == CURLE_OK
            && set(CURLOPT_NOPROGRESS, 0)
            && ccurl_setopt_pointer(handle, CURLOPT_HTTPHEADER, lines.list) == CURLE_OK
            && setMethod(exchange)
    }

    /// A named authority file is the only trust: libcurl's built-in directory is switched off beside it.
    private func setTrust() -> Bool {
        guard let caFile = configuration.caFile else { return true }
        return set(CURLOPT_CAINFO, caFile)
            && ccurl_setopt_string(handle, CURLOPT_CAPATH, nil) == CURLE_OK
    }

    private func setMethod(_ exchange: Exchange) -> Bool {
        switch exchange.body {
        case .none:
            if exchange.method == "HEAD" { return set(CURLOPT_NOBODY, 1) }
            return set(CURLOPT_HTTPGET, 1) && set(CURLOPT_CUSTOMREQUEST, exchange.method)
        case .bytes(let bytes):
            return setBody(bytes) && set(CURLOPT_CUSTOMREQUEST, exchange.method)
        case .stream:
            let context = Unmanaged.passUnretained(exchange).toOpaque()
            return set(CURLOPT_UPLOAD, 1)
                && ccurl_setopt_write(handle, CURLOPT_READFUNCTION, sourceCallback) == CURLE_OK
                && ccurl_setopt_pointer(handle, CURLOPT_READDATA, context) == CURLE_OK
                && set(CURLOPT_CUSTOMREQUEST, exchange.method)
        }
    }

    private func setBody(_ bytes: [UInt8]) -> Bool {
        // The size first: without it libcurl would look for a terminating NUL.
        guard set(CURLOPT_POSTFIELDSIZE_LARGE, bytes.count) else { return false }
        return bytes.withUnsafeBytes { bytes in
            // A null pointer would make libcurl ask a read callback instead.
            withUnsafePointer(to: UInt8(0)) { nothing in
                let start = bytes.baseAddress ?? UnsafeRawPointer(nothing)
                return ccurl_setopt_pointer(
                    handle, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: start))
                    == CURLE_OK
            }
        }
    }

    private func set(_ option: CURLoption, _ value: Int) -> Bool {
        ccurl_setopt_long(handle, option, value) == CURLE_OK
    }

    private func set(_ option: CURLoption, _ value: String) -> Bool {
        ccurl_setopt_string(handle, option, value) == CURLE_OK
    }

    private func outcome(of exchange: Exchange, _ code: CURLcode) -> HTTPOutcome {
        if code == CURLE_OK || exchange.isOversized {
            var status = 0
            ccurl_getinfo_long(handle, CURLINFO_RESPONSE_CODE, &status)
            if status >= 200 {
                return .answer(
                    HTTPAnswer(
                        status: status, headers: exchange.fields, body: exchange.received,
                        isOversized: exchange.isOversized))
            }
        }
        let reason = LossReason(code)
        return exchange.issues == 0 ? .unsent(reason) : .lost(reason)
    }
}

extension LossReason {
    init(_ code: CURLcode) {
        switch code {
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: self = .invalidRequest
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: self = .unresolved
        case CURLE_COULDNT_CONNECT: self = .unreachable
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR:
            self = .insecure
        case CURLE_OPERATION_TIMEDOUT: self = .timedOut
        default: self = .broken
        }
    }
}
