import Foundation
import JOSE
import TestKit
import Testing

/// What is left in memory of a key file's text. A sanitizer keeps freed memory, and maps more than can be searched.
@Suite(.disabled(if: Sanitizer.isPresent)) struct KeyMemoryTests {
    private static let kinds = [
        ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
        ["ecparam", "-name", "prime256v1", "-genkey", "-noout"],
        ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
    ]

    @Test(arguments: kinds)
    func `no line of a key file stays in memory, however often it is loaded`(kind: [String])
        async throws
    {
        let directory = try TemporaryDirectory()
        let path = directory.file("key.pem")
        try await runChecked(["openssl"] + kind + ["-out", path])
        let search = try MemorySearch(file: path, pieces: MemorySearch.pemBody)
        var keys: [PrivateKey] = []
        for _ in 0..<20 { keys.append(try PrivateKey.load(uri: "file:\(path)")) }
        #expect(try search.occurrences() == 0)
        #expect(Set(keys.map(\.publicJWK.thumbprint)).count == 1)
        // The search is one that finds.
        let text = try directory.read("key.pem")
        #expect(try search.occurrences() >= 3)
        #expect(text.count > 200)
    }

    @Test func `a key file that is refused leaves no line behind either`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("key.pem")
        let both = directory.file("both.pem")
        try await runChecked(["openssl"] + Self.kinds[0] + ["-out", path])
        for command in [
            "cat \(path) \(path)", "head -n 3 \(path)", "cat \(path); echo; head -n 2 \(path)",
            "sed '3s/.$/!/' \(path)", "sed '3s/....$//' \(path)",
            "sed 's/PRIVATE/RSA PRIVATE/' \(path)", "sed 's/PRIVATE/X PRIVATE/' \(path)",
        ] {
            try await runChecked(["sh", "-c", "umask 077; { \(command); } > \(both)"])
            let search = try MemorySearch(file: path, pieces: MemorySearch.pemBody)
            for _ in 0..<5 {
                #expect(throws: KeyError.self) { try PrivateKey.load(uri: "file:\(both)") }
            }
            #expect(try search.occurrences() == 0, "\(command)")
        }
    }

    /// In a process where nothing used OpenSSL before, as in the broker.
    @Test func `neither the first load nor twenty more leave the key's number as a file has it`()
        async
    {
        await #expect(processExitsWith: .success) {
            OpenSSLLifetime.coverExit()
            let directory = try TemporaryDirectory()
            let path = directory.file("key.pem")
            try await runChecked([
                "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
                "-out", path,
            ])
            try await runChecked([
                "openssl", "pkey", "-in", path, "-traditional", "-outform", "DER", "-out",
                directory.file("sec1"),
            ])
            // RFC 5915: SEQUENCE, INTEGER 1, and OCTET STRING of 32 octets, the number.
            let search = try MemorySearch(file: directory.file("sec1")) { _ in [7..<39] }
            var key = try PrivateKey.load(uri: "file:\(path)")
            #expect(try search.occurrences() == 0)
            for _ in 0..<20 { key = try PrivateKey.load(uri: "file:\(path)") }
            #expect(try search.occurrences() == 0)
            #expect(try key.sign([1]).count == 64)
            // The search is one that finds.
            let text = try directory.read("sec1")
            #expect(try search.occurrences() > 0)
            #expect(text.count > 39)
        }
    }
}
