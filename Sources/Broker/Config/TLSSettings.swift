import JOSE
import SocketServer

/// The member `tls`: which files the broker's own TLS works with.
struct TLSSettings: Sendable, Equatable {
    let certificateFile: String
    let keyFile: String
    /// With it clients are asked for certificates, which the gate `mtls` needs.
    let clientAuthorityFile: String?
    let clientRevocationFile: String?

    /// `nil` when the member is missing, or faulty.
    static func read(_ top: DocumentObject, _ faults: inout DocumentFaults) -> TLSSettings? {
        guard let value = top.value("tls"),
            let object = DocumentObject(
                value, path: "tls",
                allowed: [
                    "certificate_file", "key_file", "client_authority_file",
                    "client_revocation_file",
                ], faults: &faults)
        else { return nil }
        let expectation = "must be a PEM file's path"
        let certificate = object.required(
            "certificate_file", expectation, &faults, ServeConfiguration.path)
        let key = object.required("key_file", expectation, &faults, ServeConfiguration.path)
        let authority = object.optional(
            "client_authority_file", expectation, &faults, ServeConfiguration.path)
        let revocation = object.optional(
            "client_revocation_file", expectation, &faults, ServeConfiguration.path)
        if revocation != nil, authority == nil {
            faults.add(
                "revocation lists are of no use without client_authority_file",
                path: "tls.client_revocation_file",
                offset: object.value("client_revocation_file")?.offset ?? object.offset)
        }
        guard let certificate, let key else { return nil }
        return TLSSettings(
            certificateFile: certificate, keyFile: key, clientAuthorityFile: authority ?? nil,
            clientRevocationFile: revocation ?? nil)
    }

    /// As the socket server takes it.
    var configuration: TLSConfiguration {
        TLSConfiguration(
            certificateChainFile: certificateFile, privateKeyFile: keyFile,
            clientAuthorityFile: clientAuthorityFile, clientRevocationFile: clientRevocationFile)
    }
}
