import AssertionMint
import JOSE

/// Judges the keys of clients. Pure.
enum KeyChecks {
    static func findings(_ client: ClientFacts) -> [Finding] {
        let subject = FindingSubject.client(client.id)
        var findings: [Finding] = []
        if !client.keys.contains(where: { $0.key.state == .active }) {
            findings.append(
                Finding(
                    .keyNoneActive, subject,
                    client.keys.isEmpty ? "it has no key" : "none of its keys is active"))
        }
        for key in client.keys { findings += judge(key, client, subject) }
        let kids = client.keys.map(\.key.kid)
        for kid in Set(kids).sorted() where kids.count(where: { $0 == kid }) > 1 {
            findings.append(Finding(.keyDuplicateKid, subject, "kid \(quoted(kid))"))
        }
        if let secret = client.secret { findings.append(judge(secret, subject)) }
        return findings
    }

    /// Keys of these clients that another client signs with too.
    ///
    /// - Parameter declared: the keys of every client, looked at or not.
    static func shared(
        _ clients: [ClientFacts], among declared: [ClientId: [Declaration.Key]]
    ) -> [Finding] {
        var owners: [PublicJWK.Material: Set<ClientId>] = [:]
        for (id, keys) in declared {
            for key in keys { owners[key.publicJWK.material, default: []].insert(id) }
        }
        return clients.flatMap { client in
            client.keys.compactMap { key -> Finding? in
                let others = (owners[key.key.publicJWK.material] ?? []).subtracting([client.id])
                guard !others.isEmpty else { return nil }
                return Finding(
                    .keyShared, .client(client.id),
                    "kid \(quoted(key.key.kid)) is also a key of \(quoted(others.sorted().map(\.rawValue)))"
                )
            }
        }
    }

    private static func judge(_ secret: SecretFacts, _ subject: FindingSubject) -> Finding {
        let uri = quoted(secret.uri)
        guard let fault = secret.fault else {
            return Finding(.secretUsable, subject, "transport_tokens: \(uri) can be used")
        }
        return Finding(.secretUnusable, subject, "transport_tokens: \(uri): \(fault)")
    }

    private static func judge(
        _ facts: KeyFacts, _ client: ClientFacts, _ subject: FindingSubject
    ) -> [Finding] {
        let key = facts.key
        let name = "kid \(quoted(key.kid)), \(quoted(key.uri))"
        if key.publicJWK.algorithm != client.settings.algorithm {
            return [
                Finding(
                    .keyWrongAlgorithm, subject,
                    "\(name): for \(key.publicJWK.algorithm), the client's alg is \(client.settings.algorithm)"
                )
            ]
        }
        switch facts.trial {
        case .mints:
            return [
                Finding(
                    .keySigns, subject,
                    "\(name): active, and its assertions verify with the published key")
            ]
        case .signs:
            return [Finding(.keySigns, subject, "\(name): \(key.state.rawValue)")]
        case .unusable(let why):
            switch key.state {
            case .active: return [Finding(.keyUnusable, subject, "\(name): \(why)")]
            case .pending: return [Finding(.keyNextUnusable, subject, "\(name): \(why)")]
            // It signs no more, so it may be gone.
            case .retiring: return []
            }
        case .rejected(let why):
            return [Finding(.keyAssertionRejected, subject, "\(name): \(why)")]
        }
    }
}
