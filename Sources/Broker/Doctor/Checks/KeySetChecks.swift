import AssertionMint
import JOSE

/// Judges the key set of a client as it is published, where a provider would fetch it (RFC 7517 §5, FAPI 2.0 §5.4). Pure.
enum KeySetChecks {
    static func findings(_ client: ClientFacts, _ fetched: FetchedDocument) -> [Finding] {
        let subject = FindingSubject.client(client.id)
        let place = quoted(fetched.url)
        var findings: [Finding] = []
        if let uri = HTTPTargetURI(fetched.url), uri.isLoopback {
            findings.append(
                Finding(.jwksLoopback, subject, "\(place) leads to this machine, for everybody"))
        }
        let json: JSONValue
        switch fetched.document {
        case .failure(let fault):
            return findings + [Finding(code(fault), subject, "\(place): \(fault)")]
        case .success(let document): json = document
        }
        guard let elements = json["keys"]?.array else {
            return findings + [Finding(.jwksMalformed, subject, "\(place) has no list \"keys\"")]
        }
        let kids = elements.compactMap { $0["kid"]?.string }
        for kid in Set(kids).sorted() where kids.count(where: { $0 == kid }) > 1 {
            findings.append(
                Finding(
                    .jwksDuplicateKid, subject, "\(place) has kid \(quoted(kid)) more than once"))
        }
        do {
            findings += keys(try JWKSet(json).keys, client, place, subject)
        } catch {
            if case .privateMember(let name) = error {
                findings.append(
                    Finding(
                        .jwksPrivateMember, subject, "\(place) has a key with the member \(name)"))
            } else {
                findings.append(Finding(.jwksMalformed, subject, "\(place): \(error)"))
            }
        }
        let longest = Int64(KeySetRoute.maximumAge)
        if let age = fetched.maximumAge, age > longest {
            findings.append(
                Finding(
                    .jwksCachedTooLong, subject,
                    "\(place) may be kept for \(age) s; a change of keys reckons with \(longest) s")
            )
        }
        return findings
    }

    private static func keys(
        _ published: [PublicJWK], _ client: ClientFacts, _ place: String, _ subject: FindingSubject
    ) -> [Finding] {
        var findings: [Finding] = []
        var missing: [String] = []
        for key in client.keys.map(\.key) {
            let named = published.filter { $0.kid?.utf8.elementsEqual(key.kid.utf8) == true }
            if named.contains(where: { $0.material == key.publicJWK.material }) {
                guard key.state == .active else { continue }
                findings.append(
                    Finding(.jwksListsActiveKey, subject, "\(place), kid \(quoted(key.kid))"))
            } else if key.state != .active {
                missing.append(key.kid)
            } else if named.isEmpty {
                findings.append(
                    Finding(
                        .jwksActiveKeyMissing, subject,
                        "\(place) has no usable key with kid \(quoted(key.kid)); it has \(quoted(published.compactMap(\.kid)))"
                    ))
            } else {
                findings.append(
                    Finding(
                        .jwksOtherKey, subject,
                        "\(place) has another key under kid \(quoted(key.kid))"))
            }
        }
        if !missing.isEmpty {
            findings.append(
                Finding(.jwksIncomplete, subject, "\(place) does not list \(quoted(missing))"))
        }
        return findings
    }

    static func code(_ fault: FetchFault) -> FindingCode {
        switch fault {
        case .notAllowed: .jwksNotHTTPS
        case .unreachable: .jwksUnreachable
        case .tls: .jwksTLS
        case .timedOut: .jwksTimedOut
        case .redirect: .jwksRedirect
        case .status: .jwksStatus
        case .tooLarge: .jwksTooLarge
        case .notJSON: .jwksNotJSON
        }
    }
}

extension HTTPTargetURI {
    fileprivate var isLoopback: Bool { ["127.0.0.1", "[::1]", "localhost"].contains(host) }
}
