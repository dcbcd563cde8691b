import AssertionMint
import JOSE
import SocketServer
import Testing

@testable import Broker

/// Values that are right, for tests that change one thing of them.
enum Sample {
    static let issuer = "https://idp.example/t1"
    static let secretText = "k9Vt-QyPz3XcW8m_LrB2sNfHu6JdEaGo"
    static let jkt = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"

    static func clientId(_ text: String = "app") throws -> ClientId { try #require(ClientId(text)) }

    static func tenantId(_ text: String = "acme") throws -> TenantId {
        try #require(TenantId(text))
    }

    /// - Parameter members: JSON members that come beside (not instead of) those named here.
    static func settings(
        alg: String = "ES256", issuers: [String] = [issuer],
        gates: String = "[\"dpop\",\"backend_token\"]", _ members: String = ""
    ) throws -> ClientSettings {
        let issuers = issuers.map { "\"\($0)\"" }.joined(separator: ",")
        let more = members.isEmpty ? "" : ",\(members)"
        return try StoredDocument.clientSettings(
            "{\"alg\":\"\(alg)\",\"issuers\":[\(issuers)],\"gates\":\(gates)\(more)}")
    }

    static func tenantSettings(_ text: String = "{}") throws -> TenantSettings {
        try StoredDocument.tenantSettings(text)
    }

    /// A client that can sign, with a key made for it.
    ///
    /// - Parameter secret: the organisation's, when the settings have transport tokens.
    static func client(
        _ id: String = "app", tenant: String = "acme", settings: ClientSettings,
        tenantSettings: TenantSettings? = nil, key: PrivateKey? = nil, secret: String? = nil
    ) throws -> RegisteredClient {
        let key = try key ?? PrivateKey.generate(settings.algorithm)
        var tokens = RegisteredClient.TransportTokens.notEnabled
        if let profile = settings.transportTokens?.profile {
            tokens = .ready(
                TransportTokenSigner(
                    secret: try SharedSecret(text: Array((secret ?? self.secretText).utf8)),
                    profile: profile))
        }
        var published = key.publicJWK
        published.kid = key.publicJWK.thumbprint
        return RegisteredClient(
            id: try clientId(id), tenant: try tenantId(tenant), settings: settings,
            tenantSettings: try tenantSettings ?? self.tenantSettings(),
            signing: .ready(
                AssertionSigner(
                    clientId: try clientId(id), key: key, kid: key.publicJWK.thumbprint,
                    profile: settings.profile)),
            transportTokens: tokens, publicKeys: [published])
    }

    static func token(
        _ text: String, tenant: String = "acme", scopes: Set<APIToken.Scope> = [.mint],
        expiresAt: Int64 = .max, isRevoked: Bool = false, id: String? = nil
    ) throws -> APIToken {
        APIToken(
            id: id ?? "id-of-\(text)", tenant: try tenantId(tenant), digest: SHA256.hash(text.utf8),
            scopes: scopes, expiresAt: expiresAt, isRevoked: isRevoked)
    }

    /// A nonce secret that is long active unless the test says otherwise.
    static func secret(_ octet: UInt8, age: Int64 = 1_700_000_000, now: Int64 = 1_700_000_000)
        -> DPoPNonces.Secret
    {
        DPoPNonces.Secret(value: [UInt8](repeating: octet, count: 32), age: age, now: now)
    }

    /// A certificate with these names, whose thumbprint is all `octet`.
    static func certificate(_ octet: UInt8 = 9, _ names: ClientCertificate.Name...)
        -> ClientCertificate
    {
        ClientCertificate(sha256: [UInt8](repeating: octet, count: 32), names: Set(names))
    }

    static func nonces() throws -> DPoPNonces {
        try #require(DPoPNonces(secrets: [secret(7)]))
    }

    static func directory(
        revision: Int64 = 0, _ clients: [RegisteredClient], tokens: [APIToken] = [],
        blocks: [Block] = [], nonces: DPoPNonces? = nil
    ) throws -> Directory {
        Directory(
            revision: revision, clients: clients, tokens: tokens, blocks: blocks,
            nonces: try nonces ?? self.nonces())
    }
}
