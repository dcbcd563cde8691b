import Foundation
import JOSE
import Synchronization
import Testing

@testable import ClientShim

/// Face-key operations, with an engine whose key is a real one.
@Suite struct FaceKeyTests {
    /// Signs with a P-256 key of its own; notes everything it is given.
    private final class SigningEngine: FaceEngine {
        private let inner = ScriptedFaceEngine()
        private let key: PrivateKey
        private let answer: @Sendable (SignInPkiResult) -> SignInPkiResult
        let given = Mutex<[String]>([])

        init(answer: @escaping @Sendable (SignInPkiResult) -> SignInPkiResult = { $0 }) throws {
            key = try PrivateKey.generate(.ES256)
            self.answer = answer
        }

        private func note(_ value: Any) {
            var text = ""
            dump(value, to: &text)
            given.withLock { $0.append(text) }
        }

        var publicKey: PublicJWK { key.publicJWK }
        var name: String { "signing" }

        func open(_ token: SealedFaceToken) async throws(FaceEngineError) -> OpenedFaceToken {
            note(token.expose())
            return try await inner.open(token)
        }

        func isLive(_ frame: FaceFrame) async throws(FaceEngineError) -> Bool {
            note(frame)
            return true
        }

        func matches(
            _ frame: FaceFrame, _ token: OpenedFaceToken
        ) async throws(FaceEngineError) -> Bool {
            note(frame)
            return true
        }

        func rotate(_ token: OpenedFaceToken) async throws(FaceEngineError) -> SealedFaceToken {
            try await inner.rotate(token)
        }

        func runPki(
            _ request: SignInPkiRequest, scope: PkiScope, _ token: OpenedFaceToken
        ) async throws(FaceEngineError) -> SignInPkiResult {
            note(request)
            do {
                let signature = try key.sign(digest: Array(request.operand ?? Data()))
                return answer(
                    SignInPkiResult(
                        context: request.context, scope: scope,
                        publicKey: Data(key.publicJWK.jsonText(asSigningKey: false).utf8),
                        signature: Data(signature)))
            } catch {
                throw .failed(details: "no signature")
            }
        }
    }

    private func world(_ engine: SigningEngine) async throws -> World {
        let world = try await World(engine: engine)
        world.provider.set {
            $0.faceTokenResponse = ["pki": #"{"available":true,"tenant_scope_allowed":true}"#]
        }
        return world
    }

    private func config(_ world: World, scope: PkiScope? = nil) -> SignInConfig {
        var config = world.config
        config.pki = SignInPkiRequest(
            kind: .sign, context: Data("payment 7".utf8),
            operand: Data(SHA256.hash("payment 7".utf8)), scope: scope)
        return config
    }

    @Test(
        arguments: [(nil, PkiScope.app), (.app, .app), (.tenant, .tenant)]
            as [(PkiScope?, PkiScope)])
    func
        `R-000-65 R-000-61 the result echoes context and scope, and its key verifies the signature`(
            asked: PkiScope?, used: PkiScope
        ) async throws
    {
        let engine = try SigningEngine()
        let world = try await world(engine)
        let states = await world.signIn(config(world, scope: asked))
        guard case .signedIn(_, let result?) = states.last else {
            Issue.record("ended as \(String(describing: states.last))")
            return
        }
        #expect(result.context == Data("payment 7".utf8))
        #expect(result.scope == used)
        let jwk = try PublicJWK(try JSONValue(parsing: Array(result.publicKey)))
        #expect(jwk == engine.publicKey)
        #expect(
            try PublicKey(jwk).verifies(
                Array(try #require(result.signature)), over: Array("payment 7".utf8)))
    }

    @Test(arguments: [0, 1, 2])
    func `R-000-65 an engine that answers another request ends the flow`(_ which: Int) async throws
    {
        let engine = try SigningEngine { result in
            SignInPkiResult(
                context: which == 0 ? Data("payment 8".utf8) : result.context,
                scope: which == 1 ? .tenant : result.scope,
                publicKey: which == 2 ? Data() : result.publicKey, signature: result.signature)
        }
        let world = try await world(engine)
        guard case .server = await world.signIn(config(world)).failure else {
            Issue.record("no failure")
            return
        }
        #expect(await eventually { world.provider.aborts == ["device_error"] })
        #expect(world.provider.count(.completion) == 0)
    }

    @Test func `R-000-66 a shared secret is there once, whoever is first`() async {
        let secret = OneTimeSecret([1, 2, 3])
        #expect("\(secret)" == "<secret>")
        let taken = await withTaskGroup(of: [UInt8]?.self) { group in
            for _ in 0..<32 { group.addTask { secret.takeBytes() } }
            return await group.reduce(into: [[UInt8]]()) { if let bytes = $1 { $0.append(bytes) } }
        }
        #expect(taken == [[1, 2, 3]])
        #expect(secret.takeBytes() == nil)
    }

    /// The members of everything that is sent: forms, and the claims of signed requests.
    private func shape(_ world: World) throws -> [[String]] {
        let transport = try #require(world.environment.transport as? ScriptedTransport)
        return transport.requests.map { request in
            guard case .bytes(let body) = request.body else { return [] }
            let form = FakeProvider.form(request)
            let signed = form["ceremony_response"].map { Array($0.utf8) } ?? body
            let claims = try? CompactJWS(parsing: signed).claims()
            let claimNames = claims?.members?.map(\.name) ?? []
            let headerNames = request.headers.map(\.name).sorted()
            return [request.url] + form.keys.sorted() + claimNames.sorted() + headerNames
        }
    }

    @Test func `R-000-67 nothing that is sent tells of a face-key operation`() async throws {
        let with = try await world(SigningEngine())
        _ = await with.signIn(config(with))
        let without = try await world(SigningEngine())
        _ = await without.signIn()
        #expect(try shape(with) == shape(without))
        #expect(try shape(with).count == 5)
    }

    @Test func `R-100-12 an engine is given frames and face tokens, no key label and no URL`()
        async throws
    {
        let engine = try SigningEngine()
        let world = try await world(engine)
        _ = await world.signIn(config(world))
        let given = engine.given.withLock { $0 }
        #expect(given.count == 4)
        let labels = try world.keyStore.list() + [World.issuer, World.email, world.identity.keyId]
        for text in given {
            for label in labels { #expect(!text.contains(label)) }
        }
    }
}
