import JOSE

extension AuthnCore {
    /// The session on disk, `nil` when there is none, it is over, or the disk cannot be read now.
    func storedSession() async -> SessionRecord? {
        let stored = await withTaskExecutorPreference(executor) { try? await vault.load() }
        let now = environment.clock.now()
        return stored.flatMap { $0.isOver(at: now) ? nil : $0 }
    }

    /// One refresh at a time; latecomers share its result (R-000-52).
    func refresh(seen: SessionRecord) async throws(RefreshError) -> SessionRecord {
        try await refreshes.refresh(on: executor) { await Refresher(core: self).run(seen: seen) }
    }

    /// What attaches a session to one request.
    struct Attachment: Sendable {
        let headers: [HTTPHeader]
        /// The nonce the proof carries.
        let nonce: String?
    }

    /// `Authorization` and a fresh proof (R-000-40); `nil` when the key store cannot sign.
    func attach(
        _ record: SessionRecord, method: String, _ target: RequestURL
    ) async -> Attachment? {
        await withTaskExecutorPreference(executor) {
            guard let key = try? installKeys.current(), key.dpopJkt == record.dpopJkt,
                let proof = try? proofs(key).proof(
                    method: method, url: target, accessToken: record.accessToken)
            else { return nil }
            return Attachment(
                headers: [
                    HTTPHeader("Authorization", "DPoP \(record.accessToken.expose())"),
                    HTTPHeader("DPoP", proof.text.expose()),
                ],
                nonce: proof.nonce)
        }
    }

    /// Removes the session first, then revokes its tokens (R-000-58). The install key and the
    /// identities stay.
    func signOut() async {
        guard let record = try? await vault.remove(), let key = try? installKeys.current() else {
            return
        }
        await revoke(
            record.revocable, issuer: record.issuer, clientId: record.clientId, key: key)
    }
}
