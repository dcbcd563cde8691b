import Glibc
import JOSE
import Testing

@Suite struct OpenSSLLifetimeTests {
    /// Threads may still work with keys when a process ends. What is registered first runs last, so behind OpenSSL's own
    /// clean-up: that is the end of the process's end.
    @Test func `keys work to the very end of a process`() async {
        await #expect(processExitsWith: .exitCode(42)) {
            atexit {
                let isWorking = (try? PrivateKey.generate(.ES256).sign([1])) != nil
                _exit(isWorking ? 42 : 1)
            }
            OpenSSLLifetime.coverExit()
            _ = try PrivateKey.generate(.ES256).sign([1])
            exit(0)
        }
    }
}
