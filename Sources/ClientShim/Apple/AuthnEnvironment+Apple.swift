#if canImport(CryptoKit) && canImport(Security)
    extension AuthnEnvironment {
        /// Keys in the Secure Enclave, records in the Keychain, `URLSession` for the network. Type-checked, never run on a device.
        ///
        /// - Parameters:
        ///   - accessGroup: shared by an app and its extensions; `nil` is the app's own.
        ///   - lockDirectory: an existing directory, the same for all processes that share the group.
        /// - Throws: `KeyStoreError.failed` where there is no enclave.
        public static func apple(
            faceEngine: any FaceEngine, attestor: any AppAttestor = NoAppAttestor(),
            accessGroup: String? = nil, lockDirectory: String,
            onDiagnostic: (@Sendable (DiagnosticEvent) -> Void)? = nil
        ) throws(KeyStoreError) -> AuthnEnvironment {
            AuthnEnvironment(
                keyStore: try SecureEnclaveKeyStore(accessGroup: accessGroup),
                store: KeychainSecureStore(
                    accessGroup: accessGroup, lockDirectory: lockDirectory),
                transport: URLSessionTransport(), faceEngine: faceEngine, attestor: attestor,
                onDiagnostic: onDiagnostic)
        }
    }
#endif
