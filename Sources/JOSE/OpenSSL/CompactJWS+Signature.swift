extension CompactJWS {
    /// Whether `key` made the signature, with the algorithm the key is for.
    public func isSigned(by key: PublicKey) -> Bool {
        key.algorithm == algorithm && key.verifies(signature, over: signingInput)
    }
}
