import CCurl
import Synchronization

/// One request and what has come back of it so far. libcurl's callbacks get a pointer to it.
/// Sendable: everything but `isAbandoned` is touched only by the worker that runs the transfer.
final class Exchange: @unchecked Sendable {
    let method: String
    let url: String
    let headers: [(name: String, value: String)]
    let body: RequestBody
    private let maximumBodyBytes: Int

    /// Set from any thread when nobody waits for the answer any more; ends the transfer within a second.
    let isAbandoned = Atomic(false)

    /// How often libcurl was about to write the request. Never passes 1: see `mayIssueRequest`.
    private(set) var issues = 0
    private(set) var fields = HTTPFields()
    private(set) var received: [UInt8] = []
    private(set) var isOversized = false
    private var bodyHasBegun = false

    init(
        method: String, url: String, headers: [(name: String, value: String)], body: RequestBody,
        maximumBodyBytes: Int
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.maximumBodyBytes = maximumBodyBytes
    }

    /// libcurl sends a request a second time by itself when a kept-alive connection breaks before the
    /// first byte of the answer. The peer may have acted on the first one, and a proof or an assertion
    /// must never be presented twice (R-100-31), so the second attempt is refused here.
    func mayIssueRequest() -> Bool {
        if issues > 0 { return false }
        issues = 1
        return true
    }

    /// Takes one header line with its line end, a status line, or the empty line after a head.
    func takeHeaderLine(_ line: UnsafeRawBufferPointer) {
        // Trailers say nothing that a client of this module needs.
        if bodyHasBegun { return }
        let text = String(decoding: line, as: UTF8.self)
        if text.hasPrefix("HTTP/") {
            // A new head: the one before was an interim answer (1xx).
            fields = HTTPFields()
            return
        }
        guard let colon = text.firstIndex(of: ":") else { return }
        let name = text[..<colon]
        // A folded line belongs to no field of its own (RFC 9112 §5.2); it is dropped.
        if name.isEmpty || name.contains(where: \.isWhitespace) { return }
        fields.append(String(name), trimmed(text[text.index(after: colon)...]))
    }

    /// - Returns: `false` when the body is longer than allowed; the transfer then ends.
    func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bodyHasBegun = true
        if received.count + bytes.count > maximumBodyBytes {
            isOversized = true
            received = []
            return false
        }
        received.append(contentsOf: bytes)
        return true
    }

    private func trimmed(_ text: Substring) -> String {
        var text = text
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}

/// The exchange behind a callback's context pointer. It outlives the transfer, which holds it.
private func exchange(at context: UnsafeMutableRawPointer?) -> Exchange? {
    context.map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
}

let headerCallback: curl_write_callback = { bytes, size, count, context in
    exchange(at: context)?.takeHeaderLine(UnsafeRawBufferPointer(start: bytes, count: size * count))
    return size * count
}

let bodyCallback: curl_write_callback = { bytes, size, count, context in
    let chunk = UnsafeRawBufferPointer(start: bytes, count: size * count)
    guard let exchange = exchange(at: context), exchange.takeBody(chunk) else { return 0 }
    return size * count
}

let sourceCallback: curl_read_callback = { bytes, size, count, context in
    guard let bytes, let exchange = exchange(at: context), case .stream(let body) = exchange.body,
        !exchange.isAbandoned.load(ordering: .relaxed),
        let filled = body.fill(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
    else { return Int(CURL_READFUNC_ABORT) }
    return filled
}

let issueCallback: curl_prereq_callback = { context, _, _, _, _ in
    exchange(at: context)?.mayIssueRequest() == true
        ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

let progressCallback: curl_xferinfo_callback = { context, _, _, _, _ in
    exchange(at: context)?.isAbandoned.load(ordering: .relaxed) == false ? 0 : 1
}
