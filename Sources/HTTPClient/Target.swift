import CCurl

/// The parts of a URL that decide whether it may be used and which connection serves it.
struct Target: Equatable {
    let scheme: String
    let host: String
    let port: String

    /// - Returns: `nil` for text that libcurl does not take as a URL.
    init?(_ url: String) {
        guard let parsed = curl_url() else { return nil }
        defer { curl_url_cleanup(parsed) }
        guard curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK else { return nil }
        func part(_ which: CURLUPart) -> String? {
            var text: UnsafeMutablePointer<CChar>?
            guard curl_url_get(parsed, which, &text, UInt32(CURLU_DEFAULT_PORT)) == CURLUE_OK,
                let text
            else { return nil }
            defer { curl_free(text) }
            return String(cString: text)
        }
        guard let scheme = part(CURLUPART_SCHEME), let host = part(CURLUPART_HOST),
            let port = part(CURLUPART_PORT)
        else { return nil }
        self.scheme = scheme.lowercased()
        self.host = host.lowercased()
        self.port = port
    }

    /// `https` everywhere; `http` to loopback where the configuration allows it (R-100-25).
    func isAllowed(_ configuration: HTTPClientConfiguration) -> Bool {
        scheme == "https"
            || (scheme == "http" && configuration.allowInsecureLoopback
                && ["localhost", "127.0.0.1", "[::1]"].contains(host))
    }
}
