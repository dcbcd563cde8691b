import Glibc

/// What the process was started with.
enum Environment {
    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    static var currentDirectory: String {
        guard let path = getcwd(nil, 0) else { return "." }
        defer { free(path) }
        return String(cString: path)
    }
}

/// What commands say: results on standard output, everything else on standard error.
enum Output {
    static func line(_ text: String) {
        write(text, STDOUT_FILENO)
    }

    static func note(_ text: String) {
        write(text, STDERR_FILENO)
    }

    private static func write(_ text: String, _ descriptor: Int32) {
        var rest = Array((text + "\n").utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                return
            }
        }
    }
}
