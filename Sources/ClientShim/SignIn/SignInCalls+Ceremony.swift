import JOSE

/// The face ceremony: signed requests to the portal, and the face engine.
extension SignInCalls {
    func fetchFaceToken(_ ceremony: Ceremony) async throws(AuthnFault) -> SignInEvent? {
        guard let who = try known() else { return nil }
        let request = try deviceRequest(.faceToken, ceremony, expiresAt: nil)
        let body: Secret<String>
        if case .key(let identity) = who.identity {
            body = try request.signed(
                by: core.environment.keyStore, label: identity.keyLabel, keyId: identity.keyId)
        } else {
            // The hinted user has no key here: the request is made all the same, with a key nobody
            // knows, so that neither the provider nor a listener learns who is enrolled (R-000-05).
            body = try signedByThrowawayKey(request)
        }
        let outcome = await portal("face-token", ceremony, body, who)
        let isStranger = who.identity == .stranger(hint: who.hint)
        switch outcome {
        case .lost(let reason): return .faceToken(.lost(reason))
        case .fault(let fault): throw fault
        case .answer where isStranger: return .faceToken(.refused(.notEnrolled))
        case .answer(.busy(let busy)): return .faceToken(.busy(busy))
        case .answer(.refused(let refusal)): return .faceToken(.refused(SignInFailure(refusal)))
        case .answer(.served(let json)): return .faceToken(.served(await open(json)))
        }
    }

    private func open(_ json: JSONValue) async -> FaceTokenAnswer {
        // Both sides must be able: the tenant, and the engine on this device (R-000-62).
        let engineCan = config.pki.map { core.environment.faceEngine.canRunPki($0.kind) } ?? true
        func answer(_ content: FaceTokenAnswer.Content) -> FaceTokenAnswer {
            FaceTokenAnswer(
                content: content,
                branding: json["branding"].map {
                    Branding(organisation: $0["organisation"]?.string ?? $0["name"]?.string)
                },
                pkiAvailable: engineCan && json["pki"]?["available"]?.bool ?? false,
                pkiTenantScopeAllowed: json["pki"]?["tenant_scope_allowed"]?.bool ?? false,
                providerExpiresAt: json["expires_at"]?.integer)
        }
        if json["password_protected"]?.bool == true { return answer(.passwordProtected) }
        guard let sealed = json["face_token"]?.string,
            let token = try? await core.environment.faceEngine.open(SealedFaceToken(sealed))
        else { return answer(.unreadable) }
        return answer(.opened(token))
    }

    /// Liveness before the match (R-100-60); the frame is wiped whatever comes of it (R-100-67).
    func verify(_ frame: FaceFrame, _ token: OpenedFaceToken) async -> SignInEvent {
        defer { frame.wipe() }
        do {
            let engine = core.environment.faceEngine
            guard try await engine.isLive(frame) else { return .verdict(.notLive) }
            return .verdict(try await engine.matches(frame, token) ? .match : .mismatch)
        } catch {
            return .deviceFailed("face engine failed")
        }
    }

    func runPki(_ request: SignInPkiRequest, _ token: OpenedFaceToken) async -> SignInEvent {
        do {
            let scope = request.scope ?? .app
            let result = try await core.environment.faceEngine.runPki(request, scope: scope, token)
            // Another context or scope would be another operation than the app asked for (R-000-65).
            guard result.context == request.context, result.scope == scope,
                !result.publicKey.isEmpty
            else { return .deviceFailed("the face engine answered another request") }
            return .pkiFinished(result)
        } catch .pkiKeysMissing {
            return .pkiFinished(nil)
        } catch {
            return .deviceFailed("face engine failed")
        }
    }

    /// Rotates the face token and signs the completion, once: these bytes must stay good for every
    /// re-send, so they end with the ceremony and not in a minute (R-000-22, R-100-51).
    func makeProof(_ capture: Capture) async throws(AuthnFault) -> SignInEvent? {
        guard let who = try known(), case .key(let identity) = who.identity else { return nil }
        let rotated: SealedFaceToken
        do {
            rotated = try await core.environment.faceEngine.rotate(capture.token)
        } catch {
            return .deviceFailed("face engine failed")
        }
        let action = DeviceRequest.Action.complete(
            engine: core.environment.faceEngine.name, at: core.providerNow(config.issuer),
            faceToken: rotated)
        let request = try deviceRequest(
            action, capture.ceremony, expiresAt: capture.ceremony.providerExpiresAt)
        return .proofMade(
            try request.signed(
                by: core.environment.keyStore, label: identity.keyLabel, keyId: identity.keyId))
    }

    /// Best effort: the session at the provider ends by itself anyway.
    func abort(_ ceremony: Ceremony, _ reason: AbortReason) async {
        guard let who = try? known(), case .key(let identity) = who.identity,
            let request = try? deviceRequest(.abort(reason), ceremony, expiresAt: nil),
            let body = try? request.signed(
                by: core.environment.keyStore, label: identity.keyLabel, keyId: identity.keyId)
        else { return }
        _ = await portal("abort", ceremony, body, who)
    }

    private func portal(
        _ action: String, _ ceremony: Ceremony, _ body: Secret<String>, _ who: Participants
    ) async -> EndpointCaller.Outcome {
        await who.caller.post(
            EndpointCaller.Call(
                step: action, endpoint: .portal("/ceremonies/\(ceremony.sid)/\(action)"),
                contentType: DeviceRequest.contentType, authenticates: false
            ) { _ in Array(body.expose().utf8) })
    }

    private func deviceRequest(
        _ action: DeviceRequest.Action, _ ceremony: Ceremony, expiresAt: Int64?
    ) throws(AuthnFault) -> DeviceRequest {
        let now = core.providerNow(config.issuer)
        let jti: String
        do { jti = try core.environment.random.text(16) } catch { throw .random }
        return DeviceRequest(
            issuer: config.issuer, sid: ceremony.sid, action: action, issuedAt: now,
            expiresAt: expiresAt ?? now + DeviceRequest.lifetime, jti: jti)
    }

    private func signedByThrowawayKey(
        _ request: DeviceRequest
    ) throws(AuthnFault) -> Secret<String> {
        let keyStore = core.environment.keyStore
        let label: String
        do { label = "throwaway-" + (try core.environment.random.text(8)) } catch { throw .random }
        let key = try keyFault { () throws(KeyStoreError) in try keyStore.generate(label: label) }
        defer { try? keyStore.delete(label: label) }
        return try request.signed(by: keyStore, label: label, key: key)
    }
}
