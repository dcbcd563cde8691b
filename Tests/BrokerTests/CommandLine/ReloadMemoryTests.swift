import Glibc
import JOSE
import TestKit
import Testing

/// What reloads leave in the memory of `broker serve`, which only root may read, since it allows no dump.
@Suite(.enabled(if: geteuid() == 0), .disabled(if: Sanitizer.isPresent))
struct ReloadMemoryTests {
    @Test func `neither the start nor five reloads leave any of a key file in memory`()
        async throws
    {
        let deployment = try await Deployment()
        let directory = deployment.directory
        try await runChecked([
            "openssl", "pkey", "-in", directory.file("app.pem"), "-traditional", "-outform", "DER",
            "-out", directory.file("sec1"),
        ])
        let text = try MemorySearch(
            file: directory.file("app.pem"), pieces: MemorySearch.pemBody)
        // RFC 5915: SEQUENCE, INTEGER 1, and OCTET STRING of 32 octets, the number.
        let number = try MemorySearch(file: directory.file("sec1")) { _ in [7..<39] }
        // The search is one that finds: the path is among the arguments.
        let path = try deployment.configuration()
        try directory.write(Array(path.utf8), to: "path")
        let argument = try MemorySearch(file: directory.file("path")) { [$0.indices] }

        let broker = try await ServingBroker(path)
        let process = broker.process.identifier
        #expect(try argument.occurrences(in: process) > 0)
        #expect(try text.occurrences(in: process) == 0)
        #expect(try number.occurrences(in: process) == 0)
        for round in 1...5 {
            let event = try await ReloadTests().reload(broker, number: round)
            #expect(event["event"]?.string == "broker.reloaded")
            #expect(try text.occurrences(in: process) == 0, "reload \(round)")
            #expect(try number.occurrences(in: process) == 0, "reload \(round)")
        }
        #expect(await broker.stop() == 0)
    }
}
