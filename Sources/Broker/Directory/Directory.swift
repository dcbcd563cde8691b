import AssertionMint
import JOSE
import SocketServer

/// Everything a request is decided on, at one revision: clients with their keys and gates, tokens, blocks, nonces.
///
/// Never changed; a newer revision is another object. The batch statement refuses a mint that was decided on an older
/// revision than the database has, so a block or a revocation needs no look-up in the database (docs/adr/0002).
final class Directory: Sendable {
    let revision: Int64
    let clients: [ClientId: RegisteredClient]
    let nonces: DPoPNonces
    private let tokens: [[UInt8]: APIToken]
    private let blocks: Set<Block>
    private let overrides: LimitOverrides
    /// Of all clients.
    private let certificates: Set<CertificateIdentity>

    init(
        revision: Int64, clients: [RegisteredClient], tokens: [APIToken],
        blocks: some Sequence<Block>,
        nonces: DPoPNonces, overrides: [LimitOverride] = []
    ) {
        self.revision = revision
        self.clients = Dictionary(clients.map { ($0.id, $0) }) { first, _ in first }
        self.tokens = Dictionary(tokens.map { ($0.digest, $0) }) { first, _ in first }
        self.blocks = Set(blocks)
        self.overrides = LimitOverrides(overrides)
        certificates = Set(clients.flatMap(\.settings.certificates))
        self.nonces = nonces
    }

    /// The token with this SHA-256 digest.
    ///
    /// The look-up is by the digest of 256 random bits, so its timing tells nothing about any token; the final comparison
    /// takes constant time all the same.
    func token(digest: [UInt8]) -> APIToken? {
        guard let token = tokens[digest], constantTimeEquals(token.digest, digest) else {
            return nil
        }
        return token
    }

    func isBlocked(_ jkt: DpopJkt, client: ClientId) -> Bool {
        !blocks.isEmpty
            && (blocks.contains(Block(jkt: jkt, client: nil))
                || blocks.contains(Block(jkt: jkt, client: client)))
    }

    /// The limits that a mint of this install stands under at `now`.
    func limits(of client: RegisteredClient, jkt: DpopJkt, now: MonotonicTime) -> MintLimits {
        overrides.applied(to: client.limits, of: client.id, tenant: client.tenant, jkt, now: now)
    }

    /// Whether any client at all names this certificate: then it is no stranger's.
    func anyClientNames(_ certificate: ClientCertificate) -> Bool {
        CertificateIdentity.all(of: certificate).contains { certificates.contains($0) }
    }

    /// Clients with an `mtls` gate: closed on a server that asks for no certificates.
    var clientsWithCertificates: [ClientId] {
        clients.values.filter { !$0.settings.certificates.isEmpty }.map(\.id).sorted()
    }

    /// Clients that cannot mint everything they are declared for at present, each with the reason; the log names them.
    var unusableClients: [(ClientId, String)] {
        clients.values.flatMap { client in
            var reasons: [String] = []
            if case .unusable(let reason) = client.signing { reasons.append(reason) }
            if case .unusable(let reason) = client.transportTokens { reasons.append(reason) }
            return reasons.map { (client.id, $0) }
        }.sorted { $0.0 < $1.0 }
    }

    /// The same as text, a line each; `nil` when there is none.
    var unusableClientsText: String? {
        let lines = unusableClients.map { "client \($0.0): \($0.1)" }
        return lines.isEmpty ? nil : lines.joined(separator: "\n")
    }
}

/// One install that may obtain nothing, for one client or for all.
struct Block: Hashable, Sendable {
    let jkt: DpopJkt
    let client: ClientId?
}

/// An API token of a tenant's, by its digest; the token itself is kept nowhere.
struct APIToken: Sendable, Equatable {
    /// What a token may be used for.
    enum Scope: String, Sendable, CaseIterable {
        /// Minting assertions.
        case mint
        /// Verifying assertions and burning their identifiers.
        case consume
    }

    let id: String
    let tenant: TenantId
    /// SHA-256 of the token's text, 32 octets.
    let digest: [UInt8]
    let scopes: Set<Scope>
    /// Seconds since 1970 UTC.
    let expiresAt: Int64
    let isRevoked: Bool
}
