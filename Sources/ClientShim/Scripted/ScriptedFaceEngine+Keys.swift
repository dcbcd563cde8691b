#if os(Linux)
    import FoundationEssentials
    import JOSE

    /// Real face-key operations, with keys made of the seed in the token (R-000-60 to R-000-67).
    extension ScriptedFaceEngine {
        /// Whether the engine was given a class of face keys, and this machine's OpenSSL has its algorithms.
        public func canRunPki(_ kind: PkiCeremonyKind) -> Bool {
            guard let faceKeys else { return false }
            return switch kind {
            case .sign: faceKeys.signing.isAvailable
            case .decapsulate: faceKeys.encapsulation.isAvailable
            case .publicKeys: faceKeys.signing.isAvailable && faceKeys.encapsulation.isAvailable
            }
        }

        /// Signs, decapsulates or gives out public keys, each a DER `SubjectPublicKeyInfo`. For `.publicKeys` there are two, one
        /// behind the other: of the signing key and of the encapsulation key.
        ///
        /// - Throws: `pkiKeysMissing` for a token without a seed: rotation puts one in (R-000-64).
        public func runPki(
            _ request: SignInPkiRequest, scope: PkiScope, _ token: OpenedFaceToken
        ) async throws(FaceEngineError) -> SignInPkiResult {
            guard let faceKeys, let seed = Self.seed(of: token) else { throw .pkiKeysMissing }
            let keys = FaceKeys(seed: seed, scope: scope, keyClass: faceKeys)
            do throws(KeyError) {
                return try keys.result(of: request)
            } catch {
                throw .failed(details: "face keys: \(error)")
            }
        }
    }

    extension FaceKeyClass {
        fileprivate var signing: SeededKey.Algorithm { self == .classical ? .p256 : .mlDSA65 }
        fileprivate var encapsulation: SeededKey.Algorithm {
            self == .classical ? .p256 : .mlKEM768
        }
    }

    /// The keys of one face in one scope.
    private struct FaceKeys {
        let seed: [UInt8]
        let scope: PkiScope
        let keyClass: FaceKeyClass

        func result(of request: SignInPkiRequest) throws(KeyError) -> SignInPkiResult {
            let operand = Array(request.operand ?? Data())
            switch request.kind {
            case .publicKeys:
                let both =
                    try key(keyClass.signing, for: "sign").publicKeyInfo()
                    + key(keyClass.encapsulation, for: "decapsulate").publicKeyInfo()
                return SignInPkiResult(
                    context: request.context, scope: scope, publicKey: Data(both))
            case .sign:
                let key = try key(keyClass.signing, for: "sign")
                let signature =
                    switch keyClass {
                    case .classical: try key.sign(digest: operand)
                    case .postQuantum:
                        try key.sign(message: operand, context: Array(request.context))
                    }
                return SignInPkiResult(
                    context: request.context, scope: scope,
                    publicKey: Data(try key.publicKeyInfo()), signature: Data(signature))
            case .decapsulate:
                let key = try key(keyClass.encapsulation, for: "decapsulate")
                return SignInPkiResult(
                    context: request.context, scope: scope,
                    publicKey: Data(try key.publicKeyInfo()),
                    sharedSecret: OneTimeSecret(try key.decapsulate(operand)))
            }
        }

        /// Each purpose, scope and algorithm has a key of its own: one that signs never agrees on a secret.
        private func key(
            _ algorithm: SeededKey.Algorithm, for purpose: String
        ) throws(KeyError) -> SeededKey {
            let info = "scripted face key \(algorithm.rawValue) \(purpose) \(scope)"
            return try SeededKey(
                algorithm,
                seed: HKDF.expand(seed, info: Array(info.utf8), count: algorithm.seedLength))
        }
    }
#endif
