import Glibc

/// Whole lines on a descriptor.
enum Output {
    /// Writes `line` and a line end with one call, so that lines of several threads do not mix.
    static func line(_ line: String, to descriptor: Int32) {
        let octets = Array(line.utf8) + [UInt8(ascii: "\n")]
        var written = 0
        while written < octets.count {
            let count = octets[written...].withUnsafeBytes {
                write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            // Nobody reads it any more; a log must never stop the service.
            guard count > 0 else { return }
            written += count
        }
    }
}
