import Glibc

/// The OpenSSL that runs in this process, by its own word.
public enum OpenSSLVersion {
    /// Whether it has ML-DSA and ML-KEM: from 3.5 on.
    public static let hasPostQuantum: Bool = {
        typealias Asking = @convention(c) () -> UInt
        guard let symbol = dlsym(nil, "OpenSSL_version_num") else { return false }
        return unsafeBitCast(symbol, to: Asking.self)() >= 0x3050_0000
    }()
}
