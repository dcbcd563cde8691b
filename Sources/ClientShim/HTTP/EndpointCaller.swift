import JOSE

/// One call to an endpoint of the provider or its portal: a fresh proof and a fresh assertion for each
/// HTTP attempt, one repeat when the server asks for a nonce (R-100-33), nothing else repeated.
struct EndpointCaller: Sendable {
    let core: AuthnCore
    let flow: String
    let issuer: String
    let clientId: String
    let proofs: ProofMaker
    let provider: (any ClientAssertionProvider)?

    /// How a call ended.
    enum Outcome: Sendable {
        case answer(AnswerClass)
        /// No answer, or no assertion to ask with.
        case lost(PostFailure)
        /// This device failed.
        case fault(AuthnFault)
    }

    /// A call; the body is made anew for each attempt.
    struct Call: Sendable {
        let step: String
        let endpoint: Endpoint
        let contentType: String
        /// Whether the client authenticates: with an assertion when there is a provider (R-101-01).
        let authenticates: Bool
        let body: @Sendable (Secret<String>?) throws(AuthnFault) -> [UInt8]
        /// Sees every answer, nonce challenges included.
        var onAnswer: @Sendable (HTTPAnswer) -> Void = { _ in }
    }

    func post(_ call: Call) async -> Outcome {
        var metadata: ProviderMetadata
        do {
            metadata = try await core.metadata.metadata(of: issuer)
        } catch {
            return outcome(of: error, step: "discovery")
        }
        let url: String
        switch call.endpoint.url(in: metadata) {
        case .failure(let unusable): return refused(unusable.details)
        case .success(let found): url = found
        }
        let outcome = await postWithNonce(call, to: url)
        guard case .answer(.refused(let refusal)) = outcome, refusal.status == 404,
            refusal.error == nil
        else { return outcome }
        // The endpoint may have moved (R-100-42): look once, and ask again only somewhere else.
        core.metadata.forget(issuer)
        do { metadata = try await core.metadata.metadata(of: issuer) } catch { return outcome }
        guard case .success(let newer) = call.endpoint.url(in: metadata), newer != url else {
            return outcome
        }
        return await postWithNonce(call, to: newer)
    }

    private func postWithNonce(_ call: Call, to url: String) async -> Outcome {
        guard let target = RequestURL(url) else { return refused("endpoint is no URL") }
        var outcome = await attempt(call, url, target)
        if outcome.asksForNonce { outcome = await attempt(call, url, target) }
        return outcome.outcome
    }

    /// One HTTP attempt.
    private func attempt(_ call: Call, _ url: String, _ target: RequestURL) async -> Attempt {
        let startedAt = core.environment.clock.monotonicMilliseconds()
        func report(_ outcome: DiagnosticEvent.Outcome, _ status: Int?, _ error: String?) {
            let elapsed = core.environment.clock.monotonicMilliseconds() - startedAt
            self.report(call.step, outcome, status: status, error: error, elapsed: elapsed)
        }
        let assertion: Secret<String>?
        do { assertion = try await self.assertion(for: call) } catch {
            report(.assertionUnavailable, nil, nil)
            return Attempt(.lost(.assertionUnavailable))
        }
        let request: HTTPRequest
        let proof: ProofMaker.Proof
        do {
            let body = try call.body(assertion)
            proof = try proofs.proof(method: "POST", url: target)
            request = HTTPRequest(
                method: "POST", url: url,
                headers: [
                    HTTPHeader("Content-Type", call.contentType),
                    HTTPHeader("Accept", "application/json"),
                    HTTPHeader("DPoP", proof.text.expose()),
                ],
                body: .bytes(body))
        } catch {
            report(.deviceFault, nil, nil)
            return Attempt(.fault(error))
        }
        guard case .answer(let answer) = await core.environment.transport.send(request) else {
            report(.lost, nil, nil)
            return Attempt(.lost(.noAnswer))
        }
        learn(from: answer, target)
        call.onAnswer(answer)
        let now = core.environment.clock.now()
        let meaning = AnswerClass(answer, now: now)
        let asksForNonce = asksForNonce(answer, meaning, proof)
        switch meaning {
        case .served: report(.served, answer.status, nil)
        case .busy: report(.busy, answer.status, nil)
        case .refused(let refusal):
            let code = refusal.error.map(Refusal.printable)
            let isExpected = asksForNonce || refusal.error == "insufficient_authorization"
            report(isExpected ? .served : .refused, answer.status, code)
        }
        return Attempt(.answer(meaning), asksForNonce: asksForNonce)
    }

    private struct Attempt {
        let outcome: Outcome
        let asksForNonce: Bool

        init(_ outcome: Outcome, asksForNonce: Bool = false) {
            self.outcome = outcome
            self.asksForNonce = asksForNonce
        }
    }

    /// R-100-33: a 400 with a nonce the refused proof did not carry.
    private func asksForNonce(
        _ answer: HTTPAnswer, _ meaning: AnswerClass, _ proof: ProofMaker.Proof
    ) -> Bool {
        guard case .refused(let refusal) = meaning, refusal.status == 400,
            refusal.error == "use_dpop_nonce", let nonce = NonceTable.nonce(in: answer)
        else { return false }
        return nonce != proof.nonce
    }

    private func assertion(for call: Call) async throws(ClientAssertionError) -> Secret<String>? {
        guard call.authenticates, let provider else { return nil }
        let request = ClientAssertionRequest(
            clientId: clientId, audience: issuer, dpopJkt: proofs.key.dpopJkt)
        return try await core.assertions.assertion(from: provider, request)
    }

    private func learn(from answer: HTTPAnswer, _ target: RequestURL) {
        core.nonces.record(answer, from: target.origin)
        let now = core.environment.clock.now()
        let lesson = core.offsets.learn(answer, from: target.origin, now: now)
        if case .tooLarge = lesson {
            report("clock", .clockOffsetTooLarge, status: answer.status, error: nil, elapsed: 0)
        }
    }

    private func outcome(of failure: MetadataCache.Failure, step: String) -> Outcome {
        switch failure {
        case .lost:
            report(step, .lost, status: nil, error: nil, elapsed: 0)
            return .lost(.noAnswer)
        case .busy(let busy):
            report(step, .busy, status: busy.status, error: nil, elapsed: 0)
            return .answer(.busy(busy))
        case .refused(let refusal):
            report(step, .refused, status: refusal.status, error: nil, elapsed: 0)
            // The document's own errors are no answer to the call that wanted it.
            return refused("no provider metadata, \(refusal.message)")
        case .unusable(let details): return refused(details)
        }
    }

    private func refused(_ details: String) -> Outcome {
        .answer(.refused(Refusal(details: details)))
    }

    private func report(
        _ step: String, _ outcome: DiagnosticEvent.Outcome, status: Int?, error: String?,
        elapsed: Int64
    ) {
        core.environment.onDiagnostic?(
            DiagnosticEvent(
                flow: flow, step: step, outcome: outcome, status: status, error: error,
                elapsedMilliseconds: elapsed, jktPrefix: String(proofs.key.dpopJkt.prefix(8))))
    }
}
