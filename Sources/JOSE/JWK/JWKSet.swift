/// A JWK Set (RFC 7517 §5): keys this product cannot use are skipped, not fatal.
public struct JWKSet: Sendable, Equatable {
    /// The usable keys, in the order of the document.
    public let keys: [PublicJWK]

    /// A set of these keys.
    public init(_ keys: [PublicJWK]) {
        self.keys = keys
    }

    /// Reads a set.
    ///
    /// - Throws: `JWKError.badMember("keys")` when the document has no array of that name, and
    ///   `JWKError.privateMember` when any key carries one: such a document must never have been published.
    public init(_ json: JSONValue) throws(JWKError) {
        guard let elements = json["keys"]?.array else { throw .badMember("keys") }
        var usable: [PublicJWK] = []
        for element in elements {
            do {
                usable.append(try PublicJWK(element))
            } catch .privateMember(let name) {
                throw .privateMember(name)
            } catch {
                continue
            }
        }
        keys = usable
    }

    /// The keys an algorithm and key id can mean; without an id, all of that algorithm.
    ///
    /// A repeated `kid` is told apart by the algorithm (FAPI 2.0 §5.4.3).
    public func candidates(kid: String?, algorithm: JWSAlgorithm) -> [PublicJWK] {
        let fitting = keys.filter { $0.algorithm == algorithm }
        guard let kid else { return fitting }
        return fitting.filter { $0.kid?.hasSameOctets(as: kid) == true }
    }

    /// The document, from the allow-list of public members.
    public var jsonText: String {
        var json = JSONWriter(capacity: 512)
        json.object { json in
            json.name("keys")
            json.array { json in
                for key in keys { key.write(to: &json, asSigningKey: true) }
            }
        }
        return json.text
    }
}
