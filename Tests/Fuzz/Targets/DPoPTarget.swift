import JOSE

/// The DPoP verifier. With an even first octet the rest is the proof as it came; with an odd one it is header, NUL and payload,
/// which are signed with a good key, so that what lies behind the signature is reached. `$J` in the header stands for that
/// key's JWK.
enum DPoPTarget: FuzzTarget {
    private static let key: PrivateKey? = try? PrivateKey.generate(.ES256)
    private static let uri = HTTPTargetURI("https://broker.example/v1/assertions")
    private static let now: Int64 = 1_764_500_000
    private static let verifier = DPoPVerifier()

    static func run(_ bytes: [UInt8]) {
        guard let choice = bytes.first else { return }
        let rest = Array(bytes.dropFirst())
        let proof = choice & 1 == 0 ? String(decoding: rest, as: UTF8.self) : signed(rest)
        guard let proof, let uri, let verified = verify(proof, uri) else { return }
        check(verified, proof, uri)
    }

    private static func verify(_ proof: String, _ uri: HTTPTargetURI) -> VerifiedDPoPProof? {
        try? verifier.verify(
            proof, method: "POST", uri: uri, now: now, acceptsNonce: { $0 == nil || $0 == "nonce" })
    }

    private static func check(_ verified: VerifiedDPoPProof, _ proof: String, _ uri: HTTPTargetURI)
    {
        promise((1...128).contains(verified.jti.utf8.count), "jti of \(verified.jti.utf8.count)")
        promise((now - 60...now + 10).contains(verified.iat), "iat \(verified.iat)")
        promise(verified.htu == uri.normalized, "htu \(verified.htu)")
        promise(verified.jkt.rawValue == verified.key.thumbprint, "jkt \(verified.jkt)")
        promise(verified.replayHash.count == 32, "replay hash")
        promise(verify(proof, uri)?.replayHash == verified.replayHash, "not the same twice")
        // One changed character of the payload or the signature must never pass.
        var octets = Array(proof.utf8)
        let places = [octets.count - 3, (octets.lastIndex(of: UInt8(ascii: ".")) ?? 1) - 2]
        for place in places where octets.indices.contains(place) {
            let was = octets[place]
            octets[place] = was == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            promise(
                verify(String(decoding: octets, as: UTF8.self), uri) == nil,
                "altered at \(place) and still good")
            octets[place] = was
        }
    }

    private static func signed(_ bytes: [UInt8]) -> String? {
        guard let key else { return nil }
        let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        var header: [UInt8] = []
        var rest = parts[0]
        while let octet = rest.popFirst() {
            if octet == UInt8(ascii: "$"), rest.first == UInt8(ascii: "J") {
                rest.removeFirst()
                header += key.publicJWK.jsonText(asSigningKey: false).utf8
            } else {
                header.append(octet)
            }
        }
        return try? JWSBuilder.compact(
            header: header, payload: parts.count > 1 ? Array(parts[1]) : []
        ) {
            (input) throws(KeyError) in try key.sign(input)
        }
    }
}
