import AssertionMint
import HTTPClient
import JOSE

/// A provider's metadata document (RFC 8414 §2, OpenID Connect Discovery §3), known to be about the issuer it was asked for.
struct ProviderMetadata: Sendable {
    /// Where it stands.
    let url: String
    let document: JSONValue

    /// Why there is none.
    enum Fault: Error, Sendable, Equatable {
        case noAnswer(url: String, LossReason)
        case status(url: String, Int)
        /// More than 1 MiB.
        case oversized(url: String)
        case noJSONObject(url: String)
        /// The `issuer` in it is not the one asked for, byte for byte (RFC 8414 §3.3).
        case otherIssuer(url: String, found: String?)
    }

    /// Reads it where OpenID Connect Discovery §4 puts it and, when nothing is there, where RFC 8414 §3.1 does.
    static func of(_ issuer: Issuer, _ fetch: ProviderFetcher) async throws(Fault)
        -> ProviderMetadata
    {
        let (openId, oauth) = locations(of: issuer)
        do {
            return try await read(openId, issuer, fetch)
        } catch .status(_, 404) {
            return try await read(oauth, issuer, fetch)
        }
    }

    /// The two places, which differ for an issuer with a path.
    static func locations(of issuer: Issuer) -> (openId: String, oauth: String) {
        var text = issuer.rawValue[...]
        if text.last == "/" { text.removeLast() }
        let hostStart = text.firstRange(of: "://").map(\.upperBound) ?? text.startIndex
        let pathStart = text[hostStart...].firstIndex(of: "/") ?? text.endIndex
        return (
            "\(text)/.well-known/openid-configuration",
            "\(text[..<pathStart])/.well-known/oauth-authorization-server\(text[pathStart...])"
        )
    }

    private static func read(
        _ url: String, _ issuer: Issuer, _ fetch: ProviderFetcher
    ) async throws(Fault) -> ProviderMetadata {
        let answer: HTTPAnswer
        switch await fetch(.get(url)) {
        case .answer(let found): answer = found
        case .lost(let reason), .unsent(let reason): throw .noAnswer(url: url, reason)
        }
        guard answer.status == 200 else { throw .status(url: url, answer.status) }
        guard !answer.isOversized else { throw .oversized(url: url) }
        guard let document = try? JSONValue(parsing: answer.body), document.members != nil else {
            throw .noJSONObject(url: url)
        }
        let found = document["issuer"]?.string
        // Octets: to Swift, two spellings of one character are the same text.
        guard let found, found.utf8.elementsEqual(issuer.rawValue.utf8) else {
            throw .otherIssuer(url: url, found: found)
        }
        return ProviderMetadata(url: url, document: document)
    }

    /// An endpoint of it; `nil` when it is not there, or is no URL that a client may use.
    func endpoint(_ name: String) -> ProviderEndpoint? {
        document[name]?.string.flatMap {
            ProviderEndpoint($0, takesPlain: HTTPTargetURI(url)?.isSecure == false)
        }
    }
}

/// The URL of a provider's endpoint: `https`, or plain `http` on a loopback host where that may be.
struct ProviderEndpoint: Sendable, Equatable {
    /// As the provider writes it.
    let url: String
    /// For DPoP proofs.
    let target: HTTPTargetURI

    /// - Parameter takesPlain: whether plain `http` on a loopback host will do: where this machine's operator names the URL, or a
    ///   provider that is one itself. Another provider would choose which of this machine's own services gets an assertion.
    init?(_ text: String, takesPlain: Bool) {
        guard let target = HTTPTargetURI(text), !text.utf8.contains(UInt8(ascii: "#")),
            target.isSecure
                || takesPlain && ["127.0.0.1", "[::1]", "localhost"].contains(target.host)
        else { return nil }
        url = text
        self.target = target
    }
}

extension ProviderMetadata.Fault: CustomStringConvertible {
    var description: String {
        switch self {
        case .noAnswer(let url, let reason): "\(url): \(reason.explanation)"
        case .status(let url, let status): "\(url): answered \(status)"
        case .oversized(let url): "\(url): larger than 1 MiB"
        case .noJSONObject(let url): "\(url): no JSON object"
        case .otherIssuer(let url, nil): "\(url): names no issuer"
        case .otherIssuer(let url, let found?):
            "\(url): is about another issuer, \(ForeignText.shown(found)); they must be the same, byte for byte"
        }
    }
}

/// Text of a stranger's, on its way to a terminal.
enum ForeignText {
    /// At most 200 characters, printable ASCII; anything else is a question mark.
    static func shown(_ text: String) -> String {
        let printable = text.unicodeScalars.prefix(200).map {
            (0x20...0x7e).contains($0.value) ? Character($0) : "?"
        }
        return "\"\(String(printable))\"" + (text.unicodeScalars.count > 200 ? "…" : "")
    }
}
