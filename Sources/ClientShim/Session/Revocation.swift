import JOSE

extension AuthnCore {
    /// Takes a grant back, best effort (RFC 7009): whatever the answer, nothing waits for it.
    func revoke(
        _ token: RevocableToken, issuer: String, clientId: String, key: InstallKey,
        provider given: (any ClientAssertionProvider)? = nil
    ) async {
        let caller = caller(
            flow: "session", issuer: issuer, clientId: clientId, key: key,
            provider: given ?? provider)
        _ = await caller.post(
            EndpointCaller.Call(
                step: "revocation", endpoint: .revocation, contentType: FormBody.contentType,
                authenticates: true
            ) { assertion in
                var form = FormBody()
                form.add("token", token.token.expose())
                form.add("token_type_hint", token.hint)
                form.addClient(clientId, assertion)
                return form.bytes
            })
    }

    /// Seconds since 1970 UTC by the token endpoint's clock.
    func providerNow(issuer: String) async -> Int64 {
        let metadata = try? await metadata.metadata(of: issuer)
        return providerNow(metadata?.tokenEndpoint ?? issuer)
    }
}
