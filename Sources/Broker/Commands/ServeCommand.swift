import Glibc
import SocketServer

/// `broker serve` and `broker check-config`.
enum ServeCommand {
    static let help = """
        Usage: broker serve --config FILE

        Serves until SIGTERM or SIGINT, then finishes what is in flight and exits 0. SIGHUP reads TLS
        files, signing keys and the declaration again: all of them, or none when one cannot be used.
        Takes as many descriptors as the system allows it and leaves some of them to the database and files.
        Logs one JSON object a line on standard output; `broker.started` tells that it listens.

        FILE is JSON5:
          listen: { address: "0.0.0.0", port: 8443 },      // or { unix: "/run/…/broker.sock", mode: "0660" }
          public_url: "https://broker.example",      // as callers reach it; DPoP proofs must name it
          host_names: ["broker.example"],            // instead of public_url's host, localhost and addresses
          trusted_proxies: { addresses: ["10.0.0.0/8"], field: "forwarded" },   // or "x_forwarded_for"
          tls: { certificate_file: "…", key_file: "…",     // without tls: loopback, Unix socket or trusted proxies
                 client_authority_file: "…",         // asks clients for certificates, for the gate mtls
                 client_revocation_file: "…" },      // then each needs a current CRL of its issuer
          database_url_file: "…",                    // or the environment's DATABASE_URL
          lanes: 2,                                  // one a core unless given
          shutdown_grace_seconds: 20,
          dpop: { maximum_age: 60, maximum_ahead: 10 },
          failed_authentications: { burst: 1000, rate: 100, per: 1 },   // by address; good ones never count
        """

    static let checkHelp = """
        Usage: broker check-config --config FILE

        Reads the configuration of 'broker serve' and names every fault in it; starts nothing.
        """

    static func check(_ words: [String]) throws(CommandError) {
        let path = try Arguments(words, options: ["--config"]).required("--config")
        _ = try configuration(path)
        Output.line("\(path): good")
    }

    static func run(_ words: [String]) async throws(CommandError) {
        let path = try Arguments(words, options: ["--config"]).required("--config")
        try ProcessMemory.protect()
        let configuration = try configuration(path)
        let conninfo = try connectionString(configuration)
        if case .inherited = configuration.listen { try ServiceManager.checkSocket() }
        DescriptorLimit.raise()
        // Before any socket is opened: a peer that has gone is an error of one write, not of the process.
        signal(SIGPIPE, SIG_IGN)
        let signals = ServiceSignals()
        let service = try await Service(
            configuration, conninfo: conninfo, log: EventLog(), clock: .system)
        ServiceManager.ready()
        var reload: Task<Void, Never>?
        for await event in signals.events {
            switch event {
            case .reload:
                // One after the other, and none holds up a stop.
                reload = Task { [reload] in
                    await reload?.value
                    await service.reload { () throws(CommandError) in try self.configuration(path) }
                }
            case .stop(let number):
                signals.endAtNextStop()
                ServiceManager.stopping()
                return await service.stop(signal: number)
            }
        }
    }

    static func configuration(_ path: String) throws(CommandError) -> ServeConfiguration {
        let bytes = try TextFile.read(path)
        do {
            return try ServeConfiguration(bytes, cores: sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        } catch {
            throw .refused(error.faults.map { "\(path): \($0)" }.joined(separator: "\n"))
        }
    }

    static func connectionString(_ configuration: ServeConfiguration) throws(CommandError)
        -> String
    {
        if let path = configuration.databaseURLFile { return try DatabaseOptions.readFile(path) }
        guard let url = Environment.variable("DATABASE_URL"), !url.isEmpty else {
            throw .refused(
                "no database: set database_url_file in the configuration, or DATABASE_URL")
        }
        return url
    }
}
