internal import COpenSSL

/// How long OpenSSL can be used.
public enum OpenSSLLifetime {
    /// Lets OpenSSL work to the very end of the process. To be called before anything else that uses OpenSSL.
    ///
    /// By itself it frees what it has made when `exit` begins. Threads that still work, on a key that is being loaded, say,
    /// would then turn a good end into a crash (OPENSSL_init_crypto(3), `OPENSSL_INIT_NO_ATEXIT`).
    public static func coverExit() {
        // The only failure is one of everything: the next call says so.
        _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    }
}
