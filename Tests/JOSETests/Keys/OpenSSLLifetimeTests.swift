import Foundation
import JOSE
import Testing

/// Each test runs in a process of its own, which ends.
@Suite struct OpenSSLLifetimeTests {
    @Test(arguments: 0..<8)
    func `a process ends well while its threads work with keys`(round: Int) async {
        await #expect(processExitsWith: .success) {
            OpenSSLLifetime.coverExit()
            try Self.endWhileWorking()
        }
    }

    private static func endWhileWorking() throws -> Never {
        let pem = try PrivateKey.generate(.ES256).pkcs8PEM()
        let working = DispatchSemaphore(value: 0)
        for _ in 0..<4 {
            Thread.detachNewThread {
                while (try? PrivateKey(encoded: pem).sign([1])) != nil { working.signal() }
                // The key is good: only an OpenSSL that has gone would not take it.
                abort()
            }
        }
        for _ in 0..<40 { working.wait() }
        exit(0)
    }
}
