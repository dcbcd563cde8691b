/// `Client-Cert` and `Client-Cert-Chain` (RFC 9440): DER in byte sequences of structured fields (RFC 9651 §3.3.5).
enum ClientCertField {
    static func read(_ headers: HTTPHeaders) throws(HTTPRejection) -> [Certificate]? {
        let (own, chain) = (headers.all("client-cert"), headers.all("client-cert-chain"))
        guard let value = own.first else {
            guard chain.isEmpty else { throw .malformedForwarding }
            return nil
        }
        guard own.count == 1 else { throw .malformedForwarding }
        var certificates = [try certificate(Array(value.utf8)[...])]
        for line in chain {
            let elements = line.utf8.split(
                separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            for element in elements {
                guard certificates.count <= ForwardedCertificates.longestChain else {
                    throw .malformedForwarding
                }
                let start = element.drop(while: \.isBlank)
                let end = start.lastIndex { !$0.isBlank } ?? start.startIndex
                guard !start.isEmpty else { throw .malformedForwarding }
                certificates.append(try certificate(Array(start[...end])[...]))
            }
        }
        return certificates
    }

    /// A byte sequence and nothing else: no parameters are defined, and none are guessed at.
    private static func certificate(
        _ item: ArraySlice<UInt8>
    ) throws(HTTPRejection) -> Certificate {
        guard item.count > 2, item.first == UInt8(ascii: ":"), item.last == UInt8(ascii: ":"),
            let der = Base64.decode(item.dropFirst().dropLast()),
            let certificate = Certificate(der: der)
        else { throw .malformedForwarding }
        return certificate
    }
}
