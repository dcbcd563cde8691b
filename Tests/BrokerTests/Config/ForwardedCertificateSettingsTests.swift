import SocketServer
import Testing

@testable import Broker

@Suite struct ForwardedCertificateSettingsTests {
    private func text(_ certificates: String) -> [UInt8] {
        Array(
            """
            {listen: {address: "0.0.0.0", port: 1}, public_url: "https://broker.example",
             trusted_proxies: {addresses: ["10.0.0.0/8"], field: "forwarded",
                               client_certificates: \(certificates)}}
            """.utf8)
    }

    @Test(
        arguments: [
            (
                #"{form: "client_cert", authority_file: "/a"}"#,
                ForwardedCertificates(form: .clientCert, authorityFile: "/a")
            ),
            (
                #"{form: "escaped_pem", field: "x-ssl-cert", authority_file: "/a", revocation_file: "/r"}"#,
                ForwardedCertificates(
                    form: .escapedPEM(field: "x-ssl-cert"), authorityFile: "/a",
                    revocationFile: "/r")
            ),
        ] as [(String, ForwardedCertificates)])
    func `both forms are read`(text: String, expected: ForwardedCertificates) throws {
        let configuration = try ServeConfiguration(self.text(text), cores: 1)
        #expect(configuration.trustedProxies?.certificates == expected)
        #expect(configuration.takesCertificates)
    }

    @Test func `without the member no field is looked at`() throws {
        let text = """
            {listen: {address: "0.0.0.0", port: 1}, public_url: "https://broker.example",
             trusted_proxies: {addresses: ["10.0.0.0/8"], field: "forwarded"}}
            """
        let configuration = try ServeConfiguration(Array(text.utf8), cores: 1)
        #expect(configuration.trustedProxies != nil)
        #expect(configuration.trustedProxies?.certificates == nil)
        #expect(!configuration.takesCertificates)
    }

    @Test(arguments: [
        (#"true"#, ""), (#"{form: "client_cert"}"#, ".authority_file"),
        (#"{authority_file: "/a"}"#, ".form"), (#"{form: "xfcc", authority_file: "/a"}"#, ".form"),
        (#"{form: "client_cert", authority_file: ""}"#, ".authority_file"),
        (#"{form: "client_cert", authority_file: "/a", revocation_file: 1}"#, ".revocation_file"),
        (#"{form: "client_cert", authority_file: "/a", field: "x-cert"}"#, ".field"),
        (#"{form: "escaped_pem", authority_file: "/a"}"#, ".field"),
        (#"{form: "escaped_pem", authority_file: "/a", field: ""}"#, ".field"),
        (#"{form: "escaped_pem", authority_file: "/a", field: "X-Cert"}"#, ".field"),
        (#"{form: "escaped_pem", authority_file: "/a", field: "x cert"}"#, ".field"),
        (#"{form: "escaped_pem", authority_file: "/a", field: "x-cert:"}"#, ".field"),
        (#"{form: "client_cert", authority_file: "/a", chain: true}"#, ".chain"),
    ])
    func `one broken rule is one fault that names its member`(text: String, path: String) {
        let refused = #expect(throws: DocumentRefused.self) {
            try ServeConfiguration(self.text(text), cores: 1)
        }
        #expect(
            refused?.faults.map(\.path) == ["trusted_proxies.client_certificates\(path)"],
            "\(refused?.description ?? "")")
    }
}
