import AssertionMint
import JOSE

/// Opens keys and lets them sign, in bounded time, on the ways that `serve` takes.
struct KeyExamination: Sendable {
    let keys: SigningKeys
    let clock: WallClock

    func examine(
        _ declared: [Declaration.Key], of client: DeclarationRows.Client, ages: [String: Int64]
    ) async -> [KeyFacts] {
        let published = declared.map(\.publicJWK)
        var facts: [KeyFacts] = []
        for key in declared {
            facts.append(
                KeyFacts(
                    key: key, age: ages[key.kid] ?? 0, trial: await trial(key, client, published)))
        }
        return facts
    }

    /// Opens the secret of a client's transport tokens, as `serve` does when it starts.
    func examineSecret(of client: DeclarationRows.Client) async -> SecretFacts? {
        guard let uri = client.settings.transportTokens?.secretURI else { return nil }
        do throws(SharedSecretError) {
            _ = try await keys.secret(uri: uri)
            return SecretFacts(uri: uri, fault: nil)
        } catch {
            return SecretFacts(uri: uri, fault: "\(error)")
        }
    }

    private func trial(
        _ key: Declaration.Key, _ client: DeclarationRows.Client, _ published: [PublicJWK]
    ) async -> KeyTrial {
        do throws(KeyError) {
            let loaded = try await keys.key(uri: key.uri, publicJWK: key.publicJWK)
            guard key.state == .active, key.publicJWK.algorithm == client.settings.algorithm else {
                try await sign(loaded)
                return .signs
            }
            var mints: [DryMint] = []
            for issuer in client.settings.issuers {
                let assertion = try await assertion(key, loaded, client, issuer)
                if let fault = fault(assertion, client, published, issuer) {
                    return .rejected(fault)
                }
                if let mint = DryMint(assertion, clientId: client.id, audience: issuer) {
                    mints.append(mint)
                }
            }
            return .mints(mints)
        } catch .unusable {
            return .unusable("it is another key than the declared one, or cannot sign")
        } catch {
            return .unusable("\(error)")
        }
    }

    private func sign(_ loaded: SigningKeys.Loaded) async throws(KeyError) {
        let key = loaded.key
        _ = try await made(loaded) { () throws(KeyError) in
            Secret(Base64URL.encode(try key.sign(Array("broker doctor".utf8))))
        }
    }

    private func assertion(
        _ key: Declaration.Key, _ loaded: SigningKeys.Loaded, _ client: DeclarationRows.Client,
        _ issuer: Issuer
    ) async throws(KeyError) -> Secret<String> {
        let signer = AssertionSigner(
            clientId: client.id, key: loaded.key, kid: key.kid, profile: client.settings.profile)
        let now = clock.seconds
        return try await made(loaded) { () throws(KeyError) in
            let jti: JTI
            do throws(OpenSSLError) {
                jti = try JTI.random(at: now)
            } catch { throw .openSSL(error) }
            // No install asks for it, so it stands for none.
            return try signer.assertion(
                audience: issuer, dpopJkt: DpopJkt(of: loaded.key.publicJWK), jti: jti,
                times: signer.times(now: now))
        }
    }

    /// Keys in devices sign where waiting for them holds up nobody.
    private func made(
        _ loaded: SigningKeys.Loaded,
        _ work: @escaping @Sendable () throws(KeyError) -> Secret<String>
    ) async throws(KeyError) -> Secret<String> {
        guard let device = loaded.device else { return try work() }
        let result: Result<Secret<String>, KeyError> = await withCheckedContinuation {
            continuation in
            device.sign(work) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Why a strict server would refuse it.
    private func fault(
        _ assertion: Secret<String>, _ client: DeclarationRows.Client, _ published: [PublicJWK],
        _ issuer: Issuer
    ) -> String? {
        let verifier = ClientAssertionVerifier(
            clientId: client.id, issuers: client.settings.issuers, profile: client.settings.profile,
            keys: published)
        do {
            _ = try verifier.verify(
                try ClientAssertion(parsing: assertion.expose()), audience: issuer.rawValue,
                now: clock.seconds)
            return nil
        } catch {
            return "\(error)"
        }
    }
}

extension DryMint {
    /// Header and claims of an assertion; the signature ends here.
    init?(_ assertion: Secret<String>, clientId: ClientId, audience: Issuer) {
        let parts = assertion.expose().utf8.split(separator: UInt8(ascii: ".")).prefix(2).compactMap
        {
            Base64URL.decode($0).flatMap { String(validating: $0, as: UTF8.self) }
        }
        guard parts.count == 2 else { return nil }
        self.init(clientId: clientId, audience: audience, header: parts[0], claims: parts[1])
    }
}
