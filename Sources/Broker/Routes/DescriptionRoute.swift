import SocketServer

/// `GET /openapi.json`: the description of this interface (OpenAPI 3.1), the same octets as `docs/openapi.json`.
enum DescriptionRoute {
    static let document = {
        let body = PackageResources.openapi_json
        return CacheableDocument(
            contentType: "application/json", body: body, tag: EntityTag(of: body), maximumAge: 300)
    }()

    static func response(to head: HTTPRequestHead) -> HTTPResponse {
        document.response(to: head)
    }
}
