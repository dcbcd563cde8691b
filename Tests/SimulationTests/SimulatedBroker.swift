import AssertionMint
import JOSE
import SocketServer

@testable import Broker

/// The broker's decisions in their order (body, caller, grant, commit, signature) over a database in memory.
///
/// Sendable: touched on the run's thread only.
final class SimulatedBroker: @unchecked Sendable {
    static let url = "https://broker.example"

    /// What is committed.
    private struct Database {
        var jtis: Set<String> = []
        var proofs: Set<[UInt8]> = []
        var limits = LimitModel<String>()
    }

    private let directory: Directory
    private let authenticator: Authenticator
    private let timeline: Timeline
    private var database = Database()
    /// Until when its database is away, milliseconds since 1970.
    var databaseReturns: Int64 = 0
    /// Every `jti` that left in an assertion.
    private(set) var minted: [String] = []

    /// - Parameter key: the client's signing key.
    init(key: PrivateKey, timeline: Timeline) throws {
        self.timeline = timeline
        let settings = try StoredDocument.clientSettings(
            "{\"alg\":\"ES256\",\"issuers\":[\"\(SimulatedProvider.issuer)\"],\"gates\":[\"dpop\"]}"
        )
        guard let clientId = ClientId(SimulatedProvider.clientId), let tenant = TenantId("acme"),
            let uris = MintURIs(origin: Self.url),
            let nonces = DPoPNonces(secrets: [
                DPoPNonces.Secret(
                    value: [UInt8](repeating: 7, count: 32), age: 86_400,
                    now: timeline.milliseconds / 1000)
            ])
        else { throw SimulatedProvider.BadSetUp() }
        let kid = key.publicJWK.thumbprint
        var published = key.publicJWK
        published.kid = kid
        let client = RegisteredClient(
            id: clientId, tenant: tenant, settings: settings,
            tenantSettings: try StoredDocument.tenantSettings("{}"),
            signing: .ready(
                AssertionSigner(clientId: clientId, key: key, kid: kid, profile: settings.profile)),
            publicKeys: [published])
        directory = Directory(
            revision: 0, clients: [client], tokens: [], blocks: [Block](), nonces: nonces)
        authenticator = Authenticator(
            uris: uris, verifier: DPoPVerifier(), keys: PublicKeyCache(),
            failures: FailedAuthentications(now: { timeline.milliseconds * 1000 }))
    }

    /// The `jti` of every mint that is committed.
    var recorded: Set<String> { database.jtis }

    func answer(_ request: WireRequest) -> WireAnswer {
        let now = timeline.milliseconds / 1000
        let head = HTTPRequestHead(
            method: request.method, path: request.path, authority: "broker.example",
            headers: HTTPHeaders(request.headers))
        var response: HTTPResponse
        do throws(BrokerError) {
            response = try mint(head, request.body, now).response()
        } catch {
            let judged = authenticator.judge(error, from: head.remote, caller: nil)
            response = Problem(judged).response(requestId: "simulated")
        }
        response.headers.append(("DPoP-Nonce", directory.nonces.current(now: now)))
        return WireAnswer(status: response.status, headers: response.headers, body: response.body)
    }

    private func mint(
        _ head: HTTPRequestHead, _ body: [UInt8], _ now: Int64
    ) throws(BrokerError) -> MintReply {
        let request = try MintRequest(body, for: .clientAssertion)
        let caller = try authenticator.caller(
            head, for: .clientAssertion, directory: directory, now: now)
        let (client, _) = try caller.client(request.clientId, in: directory)
        let grant = try Broker.Grant(request, client: client, caller: caller, directory: directory)
        let jti: JTI
        do { jti = try JTI.random(at: now) } catch { throw .unavailable(.randomness) }
        try commit(grant, jti)
        let times = grant.token.times(now: now)
        do {
            let assertion = try grant.token.sign(for: grant.dpopJkt, jti: jti, times: times)
            minted.append(jti.rawValue)
            return MintReply(
                kind: .clientAssertion, token: assertion, jti: jti, times: times, now: now,
                limit: LimitFields(
                    policy: grant.limits.install, remaining: 0, resetMicroseconds: 0))
        } catch { throw .unavailable(.key(error.description)) }
    }

    /// Proof, limits and `jti`, all or none.
    private func commit(_ grant: Broker.Grant, _ jti: JTI) throws(BrokerError) {
        guard timeline.milliseconds >= databaseReturns else {
            throw .unavailable(.store(.notConnected))
        }
        if let proof = grant.proof, database.proofs.contains(proof.replayHash) {
            throw .dpopProofReplayed
        }
        var limits = database.limits
        let decision = limits.decide(
            LimitModel.Request(
                install: grant.dpopJkt.rawValue, installPolicy: grant.limits.install, client: 0,
                clientPolicy: grant.limits.client, tenant: 0, tenantPolicy: grant.limits.tenant),
            now: timeline.milliseconds * 1000)
        if case .refused(_, let wait) = decision {
            throw .rateLimited(grant.limits.install, waitMicroseconds: wait)
        }
        database.limits = limits
        if let proof = grant.proof { database.proofs.insert(proof.replayHash) }
        guard database.jtis.insert(jti.rawValue).inserted else {
            throw .unavailable(.store(.jtiTaken))
        }
    }
}
