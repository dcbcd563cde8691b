import AssertionMint
import JOSE

/// Asks providers whether they accept a client's assertions. Of everything the doctor does this alone leaves a trace: in the
/// provider's log.
struct ProbeExamination: Sendable {
    let keys: SigningKeys
    let fetch: ProviderFetcher
    let clock: WallClock

    /// - Returns: `nil` when there is nothing to ask with, or nowhere to ask: other findings say why.
    func ask(
        _ client: ClientFacts, at issuer: Issuer, _ metadata: FetchedDocument
    ) async -> ProbeAnswer? {
        guard let active = client.activeKey, case .mints = active.trial,
            case .success(let json) = metadata.document,
            case .usable(let url) = MetadataDocument(json).endpoint("token_endpoint"),
            let endpoint = ProviderEndpoint(
                url, takesPlain: HTTPTargetURI(issuer.rawValue)?.isSecure == false),
            let loaded = try? await keys.key(
                uri: active.key.uri, publicJWK: active.key.publicJWK)
        else { return nil }
        let signer = AssertionSigner(
            clientId: client.id, key: loaded.key, kid: active.key.kid,
            profile: client.settings.profile)
        return await ProviderProbe(issuer: issuer, signer: signer, fetch: fetch, clock: clock)
            .ask(at: endpoint)
    }
}
