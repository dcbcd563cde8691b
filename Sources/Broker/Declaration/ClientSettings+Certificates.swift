import JOSE
import SocketServer

extension ClientSettings {
    /// The most certificates one client may name.
    static let mostCertificates = 64

    /// Whether this is one of the client's certificates.
    func names(_ certificate: ClientCertificate) -> Bool {
        certificates.contains { identity in
            switch identity {
            case .name(let name): certificate.names.contains(name)
            case .sha256(let digest): certificate.sha256 == digest
            }
        }
    }

    /// The member `certificates`: there, and not empty, exactly when a gate asks for a certificate. A gate nobody can pass and
    /// names nobody asks for are both mistakes.
    static func certificates(
        _ object: DocumentObject, gates: [Gate], _ faults: inout DocumentFaults
    ) -> [CertificateIdentity] {
        // Gates that are themselves at fault read as none: then only the entries are looked at.
        let isWanted = gates.contains { $0.parts.contains(.mtls) }
        guard let value = object.value("certificates") else {
            if isWanted {
                faults.add(
                    "is missing: a gate has mtls, so the client must say whose certificates pass it",
                    path: object.child("certificates"), offset: object.offset)
            }
            return []
        }
        let path = object.child("certificates")
        guard let array = value.array, (1...mostCertificates).contains(array.count) else {
            faults.add(
                "must be a list of 1 to \(mostCertificates) certificates", path: path,
                offset: value.offset)
            return []
        }
        if !isWanted, !gates.isEmpty {
            faults.add(
                "no gate has mtls, so no certificate would ever be looked at; add the gate or leave this out",
                path: path, offset: value.offset)
        }
        var certificates: [CertificateIdentity] = []
        for (index, element) in array.enumerated() {
            guard let certificate = CertificateIdentity(element) else {
                faults.add(
                    CertificateIdentity.expectation, path: "\(path)[\(index)]",
                    offset: element.offset)
                continue
            }
            if certificates.contains(certificate) {
                faults.add(
                    "names the same certificate as an entry before it", path: "\(path)[\(index)]",
                    offset: element.offset)
            }
            certificates.append(certificate)
        }
        return certificates
    }
}
