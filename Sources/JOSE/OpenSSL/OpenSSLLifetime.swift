internal import COpenSSL
internal import Glibc

/// How long OpenSSL can be used, and what it leaves behind.
public enum OpenSSLLifetime {
    /// Lets OpenSSL work to the very end of the process, and overwrites the memory it gives back. To be called before
    /// anything else that uses OpenSSL.
    ///
    /// By itself it frees what it has made when `exit` begins. Threads that still work, on a key that is being loaded, say,
    /// would then turn a good end into a crash (OPENSSL_init_crypto(3), `OPENSSL_INIT_NO_ATEXIT`).
    public static func coverExit() {
        wipeWhatIsFreed()
        // The only failure is one of everything: the next call says so.
        _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    }

    /// While OpenSSL decodes a key it copies the DER a few times, and gives the copies back as they are.
    private static func wipeWhatIsFreed() {
        // It fails once OpenSSL has allocated anything; then everything works as before, but for the overwriting.
        _ = CRYPTO_set_mem_functions(
            { count, _, _ in count == 0 ? nil : malloc(count) },
            { old, count, _, _ in
                guard let old else { return count == 0 ? nil : malloc(count) }
                let held = malloc_usable_size(old)
                guard count > 0 else {
                    OPENSSL_cleanse(old, held)
                    free(old)
                    return nil
                }
                // `realloc` might move it and give the old place back as it is.
                guard count > held else { return old }
                guard let new = malloc(count) else { return nil }
                new.copyMemory(from: old, byteCount: held)
                OPENSSL_cleanse(old, held)
                free(old)
                return new
            },
            { old, _, _ in
                guard let old else { return }
                OPENSSL_cleanse(old, malloc_usable_size(old))
                free(old)
            })
    }
}
