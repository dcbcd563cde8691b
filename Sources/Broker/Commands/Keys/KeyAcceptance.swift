import AssertionMint
import HTTPClient
import JOSE

/// `--probe` of `broker key rotate`: asks every provider of the client for whether it accepts the new key, until all do or time is up.
struct KeyAcceptance: Sendable {
    static let options: Set<String> = ["--probe-for", "--ca-file"]

    /// Seconds between two questions to a provider that does not accept the key yet: longer each time, since some lock out a client
    /// that fails often.
    private static let pauses: ClosedRange<Int64> = 5...60

    private let fetch: ProviderFetcher
    /// Seconds to go on asking for.
    private let limit: Int64

    /// - Returns: `nil` when no provider is to be asked.
    init?(_ arguments: Arguments) throws(CommandError) {
        guard arguments.has("--probe") else {
            for option in Self.options where arguments.value(option) != nil {
                throw .usage("\(option) goes with --probe")
            }
            guard !arguments.has("--use-proxy") else {
                throw .usage("--use-proxy goes with --probe")
            }
            return nil
        }
        let text = arguments.value("--probe-for") ?? "10m"
        guard let limit = Lifetime.seconds(text) else {
            throw .usage("--probe-for: a length of time such as 90s, 10m or 1h")
        }
        self.limit = limit
        let caFile = arguments.value("--ca-file")
        // Told here, with its name, and not as a provider that cannot be trusted.
        if let caFile { _ = try TextFile.read(caFile) }
        let client = HTTPClient.forProviders(
            caFile: caFile, usesProxy: arguments.has("--use-proxy"))
        fetch = { await client.fetch($0) }
    }

    /// Returns once every provider accepts the key.
    ///
    /// - Throws: `notYet` with what the providers said, when one does not within the limit, or at once without `waits`.
    func wait(
        for key: KeyCommand.OpenedKey, life: KeyLife, waits: Bool
    ) async throws(CommandError) {
        let deadline = MonotonicTime.now().adding(microseconds: limit * 1_000_000)
        var told: [String] = []
        var pause = Self.pauses.lowerBound
        while true {
            let reluctant = await answers(to: key, life).filter { $0.answer != .accepted }
            if reluctant.isEmpty { return Output.line("key \(key.kid) is accepted") }
            let lines = reluctant.map { "\($0.issuer): \($0.answer)" }
            guard waits, MonotonicTime.now() < deadline else {
                throw .notYet(
                    """
                    key \(key.kid) is not accepted yet, and does not sign:
                    \(lines.joined(separator: "\n"))
                    run it again later, or without --probe
                    """)
            }
            if lines != told { Output.note(lines.joined(separator: "\n")) }
            told = lines
            do { try await Task.sleep(for: .seconds(pause)) } catch {
                throw .unavailable("interrupted")
            }
            pause = min(2 * pause, Self.pauses.upperBound)
        }
    }

    private func answers(
        to key: KeyCommand.OpenedKey, _ life: KeyLife
    ) async -> [(issuer: Issuer, answer: ProbeAnswer)] {
        let signer = AssertionSigner(
            clientId: life.client, key: key.key, kid: key.kid, profile: life.settings.profile)
        var answers: [(issuer: Issuer, answer: ProbeAnswer)] = []
        for issuer in life.settings.issuers {
            let probe = ProviderProbe(issuer: issuer, signer: signer, fetch: fetch)
            answers.append((issuer, await probe.ask()))
        }
        return answers
    }
}
