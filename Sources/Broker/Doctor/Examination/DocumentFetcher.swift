import HTTPClient
import JOSE

/// Fetches JSON documents as strictly as those do who depend on them: no redirect, no other status, bounded size and time.
struct DocumentFetcher: Sendable {
    let fetch: ProviderFetcher
    let clock: WallClock

    /// - Parameter maximumLength: octets.
    func get(_ url: String, maximumLength: Int) async -> FetchedDocument {
        guard let endpoint = ProviderEndpoint(url, takesPlain: true) else {
            return FetchedDocument(url: url, document: .failure(.notAllowed))
        }
        let asked = clock.microseconds()
        let outcome = await fetch(.get(endpoint.url))
        let answered = clock.microseconds()
        switch outcome {
        case .lost(let reason), .unsent(let reason):
            return FetchedDocument(url: url, document: .failure(FetchFault(reason)))
        case .answer(let answer):
            let isCached = Self.isCached(answer.headers.values("Age"))
            // What a cache kept has the Date of then (RFC 9111 §4.2.3).
            let date = isCached ? nil : answer.headers.first("Date").flatMap(HTTPDate.seconds)
            return FetchedDocument(
                url: url, document: Self.document(answer, maximumLength),
                clock: date.map {
                    ClockComparison(
                        asked: asked, answered: answered, earliest: $0 * 1_000_000,
                        // It shows whole seconds.
                        latest: $0 * 1_000_000 + 999_999)
                },
                maximumAge: Self.maximumAge(answer.headers.values("Cache-Control")),
                isFromCache: isCached)
        }
    }

    /// Whether an answer may have lain in a cache: any `Age` but zero says so, and one that cannot be read as well.
    private static func isCached(_ ages: [String]) -> Bool {
        ages.contains { age in
            let digits = age.drop { $0 == " " || $0 == "\t" }
            return digits.isEmpty || !digits.allSatisfy { $0 == "0" }
        }
    }

    private static func document(
        _ answer: HTTPAnswer, _ maximumLength: Int
    ) -> Result<JSONValue, FetchFault> {
        switch answer.status {
        case 200: break
        case 300...399:
            return .failure(
                .redirect(status: answer.status, location: answer.headers.first("Location")))
        default: return .failure(.status(answer.status))
        }
        guard !answer.isOversized, answer.body.count <= maximumLength else {
            return .failure(.tooLarge(maximumLength))
        }
        let mediaType = answer.headers.first("Content-Type")
        do {
            let document = try JSONValue(parsing: answer.body)
            guard document.members != nil else {
                return .failure(.notJSON("another kind of value", mediaType: mediaType))
            }
            return .success(document)
        } catch {
            return .failure(.notJSON("\(error)", mediaType: mediaType))
        }
    }

    private static func maximumAge(_ fields: [String]) -> Int64? {
        let directives = fields.flatMap { $0.lowercased().split(separator: ",") }
        for directive in directives {
            let word = directive.filter { $0 != " " && $0 != "\t" && $0 != "\"" }
            if word.hasPrefix("max-age=") { return Int64(word.dropFirst(8)) }
        }
        return nil
    }
}

extension FetchFault {
    init(_ reason: LossReason) {
        switch reason {
        case .insecure: self = .tls
        case .timedOut: self = .timedOut
        case .invalidRequest, .unresolved, .unreachable, .broken, .cancelled:
            self = .unreachable(reason.explanation)
        }
    }
}
