import Foundation
import TestKit
import Testing

@testable import SocketServer

/// Faults in the files of a configuration, each by its file and reason.
@Suite struct TLSFileTests {
    private func fault(_ configuration: TLSConfiguration) -> String {
        do {
            _ = try TLSContext(configuration)
            return "none"
        } catch {
            return error.description
        }
    }

    @Test func `each fault names its file and what is wrong`() async throws {
        let certificates = try await TestCertificates.shared()
        let directory = try TemporaryDirectory()
        try Data().write(to: URL(fileURLWithPath: directory.file("empty")))
        try Data("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8).write(
            to: URL(fileURLWithPath: directory.file("broken")))
        try directory.setMode(0o600, of: "empty")
        try directory.setMode(0o600, of: "broken")
        try FileManager.default.createSymbolicLink(
            atPath: directory.file("dangling"), withDestinationPath: directory.file("nothing"))
        try FileManager.default.createSymbolicLink(
            atPath: directory.file("loop"), withDestinationPath: directory.file("loop"))
        mkfifo(directory.file("pipe"), 0o600)
        func with(_ change: (inout TLSConfiguration) -> Void) -> String {
            var configuration = certificates.configuration(authorities: "root", lists: "lists")
            change(&configuration)
            return fault(configuration)
        }
        #expect(with { _ in } == "none")
        for (name, reason) in [
            ("nothing", "No such file or directory"), ("dangling", "No such file or directory"),
            ("loop", "Too many levels of symbolic links"), ("pipe", "not a regular file"),
        ] {
            let path = directory.file(name)
            #expect(with { $0.certificateChainFile = path } == "\(path): \(reason)")
            #expect(with { $0.privateKeyFile = path } == "\(path): \(reason)")
            #expect(with { $0.clientAuthorityFile = path } == "\(path): \(reason)")
            #expect(with { $0.clientRevocationFile = path } == "\(path): \(reason)")
        }
        let (empty, broken) = (directory.file("empty"), directory.file("broken"))
        #expect(with { $0.certificateChainFile = empty } == "\(empty): holds no certificate")
        #expect(with { $0.clientAuthorityFile = empty } == "\(empty): holds no certificate")
        #expect(
            with { $0.clientRevocationFile = empty }
                == "\(empty): holds no certificate revocation list")
        #expect(with { $0.certificateChainFile = broken }.hasPrefix("\(broken): "))
        #expect(with { $0.clientAuthorityFile = broken }.hasPrefix("\(broken): "))
        #expect(with { $0.privateKeyFile = broken }.hasPrefix("\(broken): "))
        #expect(
            with { $0.privateKeyFile = directory.path } == "\(directory.path): not a regular file")

        let weak = "is too weak: RSA needs 2048 bits, EC 256"
        let (file, key) = (certificates.file("server-weak-chain"), certificates.file("weak-root"))
        #expect(
            with { $0.certificateChainFile = file } == "\(file): the key of certificate 1 \(weak)")
        #expect(with { $0.clientAuthorityFile = key } == "\(key): the key of certificate 1 \(weak)")
        let leaf = certificates.file("good")
        #expect(
            with { $0.clientAuthorityFile = leaf }
                == "\(leaf): certificate 1 is not a certificate authority's")
        let forged = certificates.file("lists-forged")
        #expect(
            with { $0.clientRevocationFile = forged }
                == "\(forged): list 1 does not bear its authority's signature")
        #expect(
            with { $0.clientAuthorityFile = nil }
                == "\(certificates.file("lists")): revocation lists are of no use without client authorities"
        )
        let otherKey = certificates.file("good")
        #expect(
            with { $0.privateKeyFile = otherKey }
                == "\(otherKey): not the key of the first certificate in \(certificates.file("server-chain"))"
        )
    }

    @Test func `a key behind a symbolic link is judged by the file at its end`() async throws {
        let identity = try await TestIdentity()
        try FileManager.default.createSymbolicLink(
            atPath: identity.directory.file("link.pem"), withDestinationPath: "key.pem")
        var configuration = identity.configuration
        configuration.privateKeyFile = identity.directory.file("link.pem")
        #expect(fault(configuration) == "none")
        try identity.directory.setMode(0o644, of: "key.pem")
        #expect(
            fault(configuration)
                == "\(configuration.privateKeyFile): a private key must not be accessible by group or others"
        )
    }

    @Test func `certificate and key may stand in one file`() async throws {
        let certificates = try await TestCertificates.shared()
        let both = certificates.file("good")
        #expect(fault(TLSConfiguration(certificateChainFile: both, privateKeyFile: both)) == "none")
    }
}
