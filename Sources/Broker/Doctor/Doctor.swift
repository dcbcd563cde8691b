import AssertionMint

/// Looks at a whole deployment, from the database to the providers of its clients, and says what it finds.
///
/// Gathering and judging are kept apart: examinations ask, checks are pure.
struct Doctor: Sendable {
    let database: DatabaseExamination
    let directory: DirectoryExamination
    /// `nil`: nobody is asked over the network.
    let network: NetworkExamination?
    /// `nil`: no provider gets to see an assertion.
    let probe: ProbeExamination?

    /// - Parameter client: the only client to look at; `nil` for all.
    /// - Throws: `notFound` when there is no such client.
    func examine(client: ClientId?) async throws(CommandError) -> Diagnosis {
        var diagnosis = Diagnosis()
        let facts = await database.examine()
        diagnosis.findings += DatabaseChecks.findings(facts)
        if case .notComparable(let why) = facts.schema {
            diagnosis.notChecked.append("the schema, since \(why)")
        }
        guard case .success = facts.server, facts.schema != .missing else {
            diagnosis.notChecked.append("clients: they stand in the database")
            return diagnosis
        }
        let found: DirectoryExamination.Facts?
        do { found = try await directory.examine(client) } catch {
            await tell(error, &diagnosis)
            return diagnosis
        }
        guard let found else { throw .notFound("there is no such client") }
        judge(found, &diagnosis)
        await look(at: found, &diagnosis)
        return diagnosis
    }

    /// Why the declaration could not be read: the most likely reason by name, not only the database's error.
    private func tell(_ error: PostgresError, _ diagnosis: inout Diagnosis) async {
        for token in (try? await directory.endlessTokens()) ?? [] {
            diagnosis.findings.append(
                Finding(.tokenWithoutExpiry, .database, "token \(quoted(token)) never ends"))
        }
        let finding = DatabaseChecks.finding(error)
        // Said once is enough: an outdated schema has told why already.
        if !diagnosis.findings.contains(where: { $0.code == finding.code }) {
            diagnosis.findings.append(finding)
        }
        diagnosis.notChecked.append("clients: the declaration could not be read")
    }

    private func judge(_ facts: DirectoryExamination.Facts, _ diagnosis: inout Diagnosis) {
        if facts.clients.isEmpty {
            diagnosis.findings.append(
                Finding(.declarationEmpty, .database, "no client is declared"))
        }
        for client in facts.clients {
            diagnosis.findings += KeyChecks.findings(client)
            diagnosis.findings += GateChecks.findings(client, facts.shared)
            diagnosis.findings += LimitChecks.findings(client, facts.shared)
            for key in client.keys {
                if case .mints(let mints) = key.trial { diagnosis.dryMints += mints }
            }
        }
        diagnosis.findings += KeyChecks.shared(facts.clients, among: facts.declaredKeys)
        diagnosis.findings += GateChecks.tokens(
            facts.shared, of: Set(facts.clients.map(\.tenant)))
        if facts.shared.server == nil,
            facts.clients.contains(where: { !$0.settings.certificates.isEmpty })
        {
            diagnosis.notChecked.append("gates with mtls: give --config")
        }
    }

    /// Asks providers and fetches key sets, each once, whatever number of clients has them.
    private func look(
        at facts: DirectoryExamination.Facts, _ diagnosis: inout Diagnosis
    ) async {
        guard let network else {
            diagnosis.notChecked.append("providers and published key sets: --offline")
            return
        }
        let server = facts.shared.server
        let issuers = Set(facts.clients.flatMap(\.settings.issuers))
        let fetched = await network.examine(
            issuers: issuers, keySets: Set(facts.clients.compactMap { $0.keySetURL(server) }))
        for issuer in issuers.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard let metadata = fetched.metadata[issuer] else { continue }
            diagnosis.findings += ProviderChecks.findings(metadata, of: issuer)
        }
        let answers = await ask(facts.clients, fetched)
        for client in facts.clients {
            if let url = client.keySetURL(server), let keySet = fetched.keySets[url] {
                diagnosis.findings += KeySetChecks.findings(client, keySet)
            } else {
                diagnosis.notChecked.append(
                    "the published key set of \(client.id): give --config, or declare jwks_uri")
            }
            for issuer in client.settings.issuers {
                guard let metadata = fetched.metadata[issuer] else { continue }
                diagnosis.findings += RegistrationChecks.findings(client, at: issuer, metadata)
                guard let answer = answers[.registration(client.id, at: issuer)] else { continue }
                diagnosis.findings.append(
                    ProbeChecks.finding(answer, client, at: issuer, diagnosis.findings))
            }
        }
    }

    private struct Registration: Sendable {
        let client: ClientFacts
        let issuer: Issuer
        let metadata: FetchedDocument
    }

    /// What providers answer to assertions, by registration; nothing where nobody is asked.
    private func ask(
        _ clients: [ClientFacts], _ fetched: NetworkFacts
    ) async -> [FindingSubject: ProbeAnswer] {
        guard let probe else { return [:] }
        var registrations: [Registration] = []
        for client in clients {
            for issuer in client.settings.issuers {
                guard let metadata = fetched.metadata[issuer] else { continue }
                registrations.append(
                    Registration(client: client, issuer: issuer, metadata: metadata))
            }
        }
        let asked = await fewAtOnce(registrations) { registration in
            await probe.ask(
                registration.client, at: registration.issuer, registration.metadata)
        }
        var answers: [FindingSubject: ProbeAnswer] = [:]
        for (registration, answer) in zip(registrations, asked) {
            answers[.registration(registration.client.id, at: registration.issuer)] = answer
        }
        return answers
    }
}
