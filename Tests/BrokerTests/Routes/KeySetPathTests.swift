import AssertionMint
import JOSE
import TestKit
import Testing

@testable import Broker

/// A client that can be declared has a key set that can be fetched.
@Suite struct KeySetPathTests {
    /// Everything but letters and digits as `%XX`, dots only when asked for.
    private static func encoded(_ id: ClientId, dots: Bool) -> String {
        id.rawValue.utf8.map { octet in
            let isPlain =
                octet == UInt8(ascii: ".") ? !dots : Character(UnicodeScalar(octet)).isLetter
            return isPlain
                ? String(UnicodeScalar(octet))
                : "%" + (octet < 16 ? "0" : "") + String(octet, radix: 16, uppercase: true)
        }.joined()
    }

    private static func ids(seed: Int) -> [ClientId] {
        var random = SeededRandom(seed: UInt64(seed))
        let pieces = [
            ".", ".", "..", "...", "/", "/", "\\", "%2e", "%2F", "a", "%", "?", "#", ";", ":", "~",
        ]
        return (0..<40).compactMap { _ in
            ClientId(
                (0..<Int.random(in: 1...6, using: &random))
                    .compactMap { _ in pieces.randomElement(using: &random) }.joined())
        }
    }

    @Test(arguments: 0..<10)
    func `it is found where the identifier fits, and the server refuses the path where not`(
        seed: Int
    ) async throws {
        let ids = Set(Self.ids(seed: seed))
        let settings = try Sample.settings()
        let key = try PrivateKey.generate(.ES256)
        let broker = try await TestBroker(
            try Sample.directory(
                ids.map { try Sample.client($0.rawValue, settings: settings, key: key) }))
        #expect(ids.contains { $0.fitsPathSegment } && ids.contains { !$0.fitsPathSegment })
        for id in ids {
            for dots in [false, true] {
                let path = "/v1/clients/\(Self.encoded(id, dots: dots))/jwks.json"
                let status = try await broker.send("GET", path).status
                #expect(status == (id.fitsPathSegment ? 200 : 400), "\(id) at \(path)")
            }
        }
        await broker.stop()
    }

    @Test(arguments: [
        ".", "..", "../x", "x/..", "a/../b", "a/./b", "/..", "../", "./", "/.", "a\\..\\b", "..\\",
        "a//./b", "\\.", "https://app.example/../x", "https://app.example/.",
    ])
    func `an identifier that no URL can hold is not declared`(id: String) throws {
        let text = DeclarationReaderTests.client()
            .replacing("{app:", with: "{\(Self.quoted(id)):")
        let error = #expect(throws: DocumentRefused.self) { try DeclarationReaderTests.read(text) }
        #expect(error?.faults.map(\.message) == [DeclarationReader.noPathSegment])
    }

    @Test(arguments: [
        "...", ".a", "a.", "..a", "a..b", "a/...", ".a/b.", "https://app.example/x", "a//b", "/",
        "\\", "%2e%2e", "a/%2e%2e/b", "~", "a?../b", "a;..",
    ])
    func `dots beside anything else are`(id: String) throws {
        let text = DeclarationReaderTests.client()
            .replacing("{app:", with: "{\(Self.quoted(id)):")
        let declaration = try DeclarationReaderTests.read(text)
        #expect(declaration.tenants[0].clients.map(\.id.rawValue) == [id])
    }

    private static func quoted(_ text: String) -> String {
        var json = JSONWriter()
        json.string(text)
        return json.text
    }
}
