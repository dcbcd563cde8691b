import Glibc

/// The thread or address sanitizer, when the tests are built with one (`script/test --sanitize`).
public enum Sanitizer {
    /// Whether one watches this process: it slows everything down several times, makes stack frames larger and keeps freed
    /// memory for itself.
    public static let isPresent =
        dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
}
