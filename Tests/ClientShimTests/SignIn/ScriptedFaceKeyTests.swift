import Foundation
import JOSE
import TestKit
import Testing

@testable import ClientShim

/// Face-key operations of whole sign-ins with the scripted engine, judged by `cryptography`.
@Suite struct ScriptedFaceKeyTests {
    /// The classes this machine's OpenSSL has algorithms for.
    static let classes = FaceKeyClass.allCases.filter {
        $0 == .classical || OpenSSLVersion.hasPostQuantum
    }

    /// A device whose user has a token with face keys, or without.
    private func world(
        _ engine: any FaceEngine, withFaceKeys: Bool = true, available: Bool = true
    ) async throws -> World {
        let world = try await World(engine: engine)
        let token = try ScriptedFaceEngine.newToken(withFaceKeys: withFaceKeys).expose()
        world.provider.set {
            $0.faceToken = token
            $0.faceTokenResponse = [
                "pki": #"{"available":\#(available),"tenant_scope_allowed":true}"#
            ]
        }
        return world
    }

    private func config(
        _ world: World, _ kind: PkiCeremonyKind, operand: [UInt8]? = nil, scope: PkiScope = .app
    ) -> SignInConfig {
        var config = world.config
        config.pki = SignInPkiRequest(
            kind: kind, context: Data("payment 7".utf8), operand: operand.map { Data($0) },
            scope: scope)
        return config
    }

    private func result(
        _ world: World, _ kind: PkiCeremonyKind, operand: [UInt8]? = nil, scope: PkiScope = .app
    ) async throws -> SignInPkiResult {
        let states = await world.signIn(
            config(world, kind, operand: operand, scope: scope))
        guard case .signedIn(_, let result?) = states.last else {
            throw Unexpected(end: states.last)
        }
        return result
    }

    private struct Unexpected: Error {
        let end: SignInState?
    }

    private func quoted(_ octets: some Sequence<UInt8>) -> String {
        "\"\(Base64URL.encode(Array(octets)))\""
    }

    @Test(arguments: classes, [32, 64])
    func `R-000-60 R-000-65 a signature with the face keys verifies elsewhere`(
        _ keyClass: FaceKeyClass, length: Int
    ) async throws {
        let world = try await world(ScriptedFaceEngine(faceKeys: keyClass))
        let operand = try SecureRandom.bytes(length)
        let result = try await result(world, .sign, operand: operand)
        #expect(result.context == Data("payment 7".utf8))
        let signature = try #require(result.signature)
        var other = operand
        other[0] ^= 1
        let questions = [operand, other].map {
            #"{"op":"verify","public_key":\#(quoted(result.publicKey)),"signature":\#(quoted(signature)),"message":\#(quoted($0)),"context":\#(quoted(result.context))}"#
        }
        let answers = try await Oracle.ask("face_keys.py", questions)
        #expect(answers.map { $0["good"]?.bool } == [true, false])
    }

    @Test(arguments: classes)
    func `R-000-66 R-000-65 a secret that another implementation encapsulated is opened, once`(
        _ keyClass: FaceKeyClass
    ) async throws {
        let engine = ScriptedFaceEngine(faceKeys: keyClass)
        let world = try await world(engine)
        let keys = try await result(world, .publicKeys).publicKey
        // Two SubjectPublicKeyInfo, one behind the other; the second is for encapsulation.
        let encapsulation = keys.dropFirst(try derLength(keys))
        let answer = try await Oracle.ask(
            "face_keys.py",
            [#"{"op":"encapsulate","public_key":\#(quoted(encapsulation))}"#])[0]
        let text = try #require(answer["ciphertext"]?.string)
        let ciphertext = try #require(Base64URL.decode(text))
        let opened = try await result(world, .decapsulate, operand: ciphertext)
        #expect(opened.publicKey == Data(encapsulation))
        #expect(opened.signature == nil)
        let secret = try #require(opened.sharedSecret)
        #expect(secret.takeBytes().map { Base64URL.encode($0) } == answer["secret"]?.string)
        #expect(secret.takeBytes() == nil)
    }

    /// Octets of the first DER element.
    private func derLength(_ data: Data) throws -> Int {
        let octets = Array(data.prefix(4))
        try #require(octets.count == 4 && octets[0] == 0x30)
        switch octets[1] {
        case ..<0x80: return 2 + Int(octets[1])
        case 0x81: return 3 + Int(octets[2])
        default:
            try #require(octets[1] == 0x82)
            return 4 + Int(octets[2]) << 8 + Int(octets[3])
        }
    }

    @Test func `R-000-65 each scope has keys of its own, the same at every sign-in`() async throws {
        let world = try await world(ScriptedFaceEngine(faceKeys: .classical))
        let app = try await result(world, .publicKeys).publicKey
        #expect(try await result(world, .publicKeys).publicKey == app)
        #expect(try await result(world, .publicKeys, scope: .tenant).publicKey != app)
    }

    @Test
    func
        `R-000-64 a token without keys ends the flow after the scan, and a plain sign-in cures it`()
        async throws
    {
        let engine = ScriptedFaceEngine(faceKeys: .classical)
        let world = try await world(engine, withFaceKeys: false)
        let config = config(world, .publicKeys)
        #expect(await world.signIn(config).failure == .pkiKeysNotReady)
        #expect(engine.matcherCalls == 1)
        #expect(await eventually { world.provider.aborts == ["pki_refused"] })
        #expect(await world.signIn().session != nil)
        #expect(try await result(world, .publicKeys).publicKey.count == 2 * 91)
    }

    @Test(arguments: [
        PkiCeremonyKind.publicKeys, .sign, .decapsulate,
    ])
    func `R-000-62 R-000-63 an engine without face keys ends the flow before the scan`(
        _ kind: PkiCeremonyKind
    ) async throws {
        try await expectNotAvailable(ScriptedFaceEngine(), kind)
    }

    @Test(
        .disabled(if: OpenSSLVersion.hasPostQuantum, "this OpenSSL has ML-DSA and ML-KEM"),
        arguments: [PkiCeremonyKind.publicKeys, .sign, .decapsulate])
    func `R-000-62 algorithms that this OpenSSL lacks are not available, and the scan is spared`(
        _ kind: PkiCeremonyKind
    ) async throws {
        try await expectNotAvailable(ScriptedFaceEngine(faceKeys: .postQuantum), kind)
    }

    private func expectNotAvailable(
        _ engine: ScriptedFaceEngine, _ kind: PkiCeremonyKind
    ) async throws {
        let world = try await world(engine)
        let operand: [UInt8]? = kind == .publicKeys ? nil : [UInt8](repeating: 1, count: 32)
        let states = await world.signIn(config(world, kind, operand: operand))
        #expect(states.failure == .pkiNotAvailable)
        #expect(engine.matcherCalls == 0)
        #expect(await eventually { world.provider.aborts == ["pki_refused"] })
        #expect(world.provider.count(.completion) == 0)
        // What the engine cannot do is no matter for a sign-in that does not ask for it.
        #expect(await world.signIn().session != nil)
    }

    @Test func `R-000-62 a tenant without face keys has none, whatever the engine can do`()
        async throws
    {
        let engine = ScriptedFaceEngine(faceKeys: .classical)
        let world = try await world(engine, available: false)
        #expect(await world.signIn(config(world, .publicKeys)).failure == .pkiNotAvailable)
        #expect(engine.matcherCalls == 0)
    }

    @Test(arguments: classes)
    func `a ciphertext that is none ends the flow, and nothing was signed in`(
        _ keyClass: FaceKeyClass
    ) async throws {
        let world = try await world(ScriptedFaceEngine(faceKeys: keyClass))
        let states = await world.signIn(config(world, .decapsulate, operand: [4, 5, 6]))
        guard case .server = states.failure else {
            Issue.record("ended as \(String(describing: states.last))")
            return
        }
        #expect(world.provider.count(.completion) == 0)
        #expect(world.authn.currentSession() == nil)
    }
}
