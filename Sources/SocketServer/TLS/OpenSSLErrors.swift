internal import COpenSSL

/// OpenSSL's per-thread error queue.
enum OpenSSLErrors {
    /// To be called before each call of a session: `SSL_get_error` takes whatever lies in the queue for that call's fault, and
    /// a thread serves many connections, signs, and runs what others put on it (SSL_get_error(3)).
    static func forgetOthers() { ERR_clear_error() }

    /// Empties the queue and gives the first error's reason. To be called after each failure, or the next call on
    /// this thread reports this one's error.
    static func drain() -> String {
        let first = ERR_get_error()
        ERR_clear_error()
        guard first != 0, let reason = ERR_reason_error_string(first) else { return "failed" }
        return String(cString: reason)
    }
}
