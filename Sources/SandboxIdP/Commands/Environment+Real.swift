import DPoPResource
import Glibc
import JOSE

extension Environment {
    /// The machine's clock, the system's generator, key sets over HTTPS, events on standard error.
    static func real(caFile: String?) -> Environment {
        Environment(
            now: { Int64(time(nil)) }, random: { try? SecureRandom.bytes($0) },
            clientKeys: PublishedClientKeys(fetcher: HTTPJWKSFetcher(caFile: caFile)),
            log: { Output.line($0.line, to: STDERR_FILENO) })
    }
}
