internal import COpenSSL

/// Certificates of clients: asked for when there are authorities to judge them by, never demanded.
extension TLSContext {
    /// What a client may send as its chain, in octets.
    private static let longestChain = 32 * 1024

    func setClientRules() throws(ServerError) {
        copenssl_SSL_CTX_set_max_cert_list(context, Self.longestChain)
        guard let authorities else { return }
        guard copenssl_SSL_CTX_set1_verify_cert_store(context, authorities.store) == 1 else {
            throw .tlsSetup(reason: OpenSSLErrors.drain())
        }
        // Their names go to the client, so that one with several certificates knows which to show.
        for authority in authorities.certificates {
            guard SSL_CTX_add_client_CA(context, authority.pointer) == 1 else {
                throw .tlsSetup(reason: OpenSSLErrors.drain())
            }
        }
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_cert_verify_callback(
            context,
            { verification, argument in
                guard let verification, let argument else { return 0 }
                let owner = Unmanaged<TLSContext>.fromOpaque(argument).takeUnretainedValue()
                return ClientVerification.run(verification, now: owner.now()) ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}
