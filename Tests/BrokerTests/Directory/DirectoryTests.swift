import AssertionMint
import JOSE
import Testing

@testable import Broker

@Suite struct DirectoryTests {
    @Test func `a token is found by its digest alone`() throws {
        let directory = try Sample.directory([], tokens: [Sample.token("tb_good")])
        #expect(directory.token(digest: SHA256.hash("tb_good".utf8))?.id == "id-of-tb_good")
        #expect(directory.token(digest: SHA256.hash("tb_goof".utf8)) == nil)
        #expect(directory.token(digest: Array("tb_good".utf8)) == nil)
        #expect(directory.token(digest: []) == nil)
    }

    @Test func `a block holds for its client, or for all when it names none`() throws {
        let (one, other) = (try Install().jkt, try Install().jkt)
        let (app, shop) = (try Sample.clientId("app"), try Sample.clientId("shop"))
        let (jkt, blockedForAll) = (try #require(DpopJkt(one)), try #require(DpopJkt(other)))
        let directory = try Sample.directory(
            [], blocks: [Block(jkt: jkt, client: app), Block(jkt: blockedForAll, client: nil)])
        #expect(directory.isBlocked(jkt, client: app))
        #expect(!directory.isBlocked(jkt, client: shop))
        #expect(directory.isBlocked(blockedForAll, client: app))
        #expect(directory.isBlocked(blockedForAll, client: shop))
        #expect(!directory.isBlocked(try #require(DpopJkt(Sample.jkt)), client: app))
    }

    @Test func `a key set holds public members only, and its ETag follows its keys`() throws {
        let (es, ps) = (try PrivateKey.generate(.ES256), try PrivateKey.generate(.PS256))
        let both = PublishedKeySet([es.publicJWK, ps.publicJWK])
        let set = try JSONValue(parsing: both.body)
        let names = try #require(set["keys"]?.array).map { Set(($0.members ?? []).map(\.name)) }
        #expect(
            names == [["kty", "crv", "x", "y", "use", "alg"], ["kty", "n", "e", "use", "alg"]])
        #expect(both.tag == PublishedKeySet([es.publicJWK, ps.publicJWK]).tag)
        #expect(both.tag != PublishedKeySet([es.publicJWK]).tag)
        #expect(both.tag.field.wholeMatch(of: /"[A-Za-z0-9_-]+"/) != nil)
    }
}
