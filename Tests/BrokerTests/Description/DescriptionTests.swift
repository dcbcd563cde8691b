import Foundation
import JOSE
import TestKit
import Testing

@testable import Broker

/// `docs/openapi.json` and the broker say the same.
@Suite struct DescriptionTests {
    static let document = PackageResources.openapi_json

    func parsed() throws -> JSONValue { try JSONValue(parsing: Self.document, maximumDepth: 32) }

    @Test func `what is served is the file in docs`() async throws {
        let file = try Fixtures.bytes("../docs/openapi.json")
        let broker = try await TestBroker(try Sample.directory([]))
        let response = try await broker.send("GET", "/openapi.json")
        #expect(response.status == 200)
        // As one value: a failure must not print every octet.
        let isSame = response.body == file
        #expect(isSame, "\(response.body.count) octets are served, \(file.count) are in the file")
        #expect(response.first("content-type") == "application/json")
        #expect(response.first("cache-control") == "public, max-age=300")
        let etag = try #require(response.first("etag"))
        let again = try await broker.send("GET", "/openapi.json", ["If-None-Match: \(etag)"])
        #expect(again.status == 304)
        #expect(again.first("etag") == etag)
        let other = try await broker.send("GET", "/openapi.json", ["If-None-Match: \"other\""])
        #expect(other.status == 200)
    }

    @Test func `it is served before a declaration was loaded`() async throws {
        let broker = try await TestBroker(try Sample.directory([]), isLoaded: false)
        #expect(try await broker.send("GET", "/openapi.json").status == 200)
    }

    @Test func `each route with each of its methods is described, and nothing else`() throws {
        let operations: Set = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]
        let paths = try #require(try parsed()["paths"]?.members)
        let described = paths.map { path in
            let members = (path.value.members ?? []).map(\.name)
            return
                "\(path.name) \(members.filter(operations.contains).map { $0.uppercased() }.sorted())"
        }
        let routes = RoutePattern.allCases.map { "\($0.rawValue) \($0.methods.sorted())" }
        #expect(described.sorted() == routes.sorted())
    }

    @Test func `each problem code is described, and nothing else`() throws {
        let codes = try parsed()["components"]?["schemas"]?["ProblemCode"]?["enum"]?.array
        let described = try #require(codes).compactMap(\.string)
        #expect(described.sorted() == ProblemCode.allCases.map(\.rawValue).sorted())
    }

    @Test func `each problem code stands in an answer`() throws {
        let text = String(decoding: Self.document, as: UTF8.self)
        for code in ProblemCode.allCases {
            let uses = text.components(separatedBy: "\"\(code.rawValue)\"").count - 1
            #expect(uses >= 2, "\(code.rawValue) stands in ProblemCode only")
        }
    }

    @Test func `openapi-spec-validator accepts it`() async throws {
        let version = try await Oracle.run(
            "openapi_document.py", [], input: String(decoding: Self.document, as: UTF8.self))
        #expect(version == "3.1.0\n")
    }

    @Test func `openapi-spec-validator refuses it with a response that is none`() async throws {
        let broken = String(decoding: Self.document, as: UTF8.self)
            .replacingOccurrences(of: "\"description\": \"Alive.\",", with: "")
        await #expect(throws: ProcessFailure.self) {
            try await Oracle.run("openapi_document.py", [], input: broken)
        }
    }
}
