import JOSE
import SocketServer

/// How one broker process runs: addresses, files and times. What it serves stands in the database (see `Declaration`).
struct ServeConfiguration: Sendable, Equatable {
    let listen: ListeningEndpoint
    /// Scheme, host and port as callers see them; `htu` of a DPoP proof must name it.
    let publicURL: HTTPTargetURI
    var tls: TLSSettings?
    let trustedProxies: TrustedProxies?
    /// What a request may name as its host.
    let hosts: ServedHosts
    /// A file with the libpq connection string; without, the environment's `DATABASE_URL`.
    let databaseURLFile: String?
    let migrationsDirectory: String?
    let lanes: Int
    let shutdownGraceSeconds: Int64
    let dpopMaximumAge: Int64
    let dpopMaximumAhead: Int64
    /// By address, in the memory of this process.
    let failedAuthentications: LimitSettings

    /// Reads a configuration file (JSON5) and names every fault in it.
    ///
    /// - Parameter cores: how many lanes there are unless the file says otherwise.
    init(_ bytes: [UInt8], cores: Int) throws(DocumentRefused) {
        let document: JSONValue
        do {
            document = try JSONValue(parsing: bytes, dialect: .json5)
        } catch {
            throw DocumentRefused(faults: [
                DocumentFault(
                    path: "the file", line: error.line, column: error.column,
                    message: error.reason.rawValue)
            ])
        }
        var faults = DocumentFaults(in: bytes)
        let read = Self.read(document, cores: cores, &faults)
        guard faults.isEmpty, let read else { throw DocumentRefused(faults: faults.list) }
        self = read
    }

    private init(
        listen: ListeningEndpoint, publicURL: HTTPTargetURI, tls: TLSSettings?,
        _ top: DocumentObject,
        cores: Int,
        _ faults: inout DocumentFaults
    ) {
        self.listen = listen
        trustedProxies = ProxySettings.read(top, listen: listen, &faults)
        hosts = Self.hosts(top, publicURL, &faults)
        self.publicURL = publicURL
        self.tls = tls
        databaseURLFile =
            top.optional("database_url_file", "must be a file's path", &faults, Self.path) ?? nil
        migrationsDirectory =
            top.optional("migrations_directory", "must be a directory's path", &faults, Self.path)
            ?? nil
        lanes = Int(top.integer("lanes", default: Int64(max(1, cores)), in: 1...256, &faults))
        shutdownGraceSeconds = top.integer(
            "shutdown_grace_seconds", default: 20, in: 1...600, &faults)
        var window = (age: Int64(60), ahead: Int64(10))
        if let value = top.value("dpop"),
            let dpop = DocumentObject(
                value, path: "dpop", allowed: ["maximum_age", "maximum_ahead"], faults: &faults)
        {
            window.age = dpop.integer("maximum_age", default: 60, in: 5...300, &faults)
            window.ahead = dpop.integer("maximum_ahead", default: 10, in: 10...60, &faults)
        }
        dpopMaximumAge = window.age
        dpopMaximumAhead = window.ahead
        failedAuthentications =
            top.value("failed_authentications").flatMap {
                LimitSettings($0, path: "failed_authentications", faults: &faults)
            } ?? .defaultFailedAuthentications
    }

    private static let members: Set<String> = [
        "listen", "public_url", "host_names", "tls", "trusted_proxies", "database_url_file",
        "migrations_directory", "lanes",
        "shutdown_grace_seconds", "dpop", "failed_authentications",
    ]

    private static func read(
        _ document: JSONValue, cores: Int, _ faults: inout DocumentFaults
    ) -> ServeConfiguration? {
        guard let top = DocumentObject(document, path: "", allowed: members, faults: &faults) else {
            return nil
        }
        let listen = top.required("listen", ListenSettings.expectation, &faults) { $0 }
            .flatMap { ListenSettings.read($0, &faults) }
        let publicURL = top.required(
            "public_url",
            "must be an http(s) URL without path, query and fragment, as callers reach the broker",
            &faults
        ) { value in
            value.string.flatMap(origin)
        }
        let tls = TLSSettings.read(top, &faults)
        // Faults in the rest are found even when these are missing.
        let placeholder = HTTPTargetURI("https://localhost")
        guard let url = publicURL ?? placeholder else { return nil }
        let configuration = ServeConfiguration(
            listen: listen ?? .tcp(address: "127.0.0.1", port: 0), publicURL: url, tls: tls, top,
            cores: cores, &faults)
        if case .tcp(let address, _) = listen, top.value("tls") == nil,
            top.value("trusted_proxies") == nil, RemoteAddress(address)?.isLoopback == false
        {
            faults.add(
                "plain HTTP is served on loopback, on Unix sockets and to trusted_proxies only; give tls",
                path: "listen.address", offset: top.value("listen")?["address"]?.offset ?? 0)
        }
        if let publicURL, tls != nil, !publicURL.isSecure {
            faults.add(
                "must be https, since the broker serves TLS", path: "public_url",
                offset: top.value("public_url")?.offset ?? 0)
        }
        return listen == nil || publicURL == nil ? nil : configuration
    }

    /// Unless they are listed: the host of `public_url`, `localhost` and every address, so that probes work.
    private static func hosts(
        _ top: DocumentObject, _ publicURL: HTTPTargetURI, _ faults: inout DocumentFaults
    ) -> ServedHosts {
        let names = top.list("host_names", of: "a host without port", &faults) {
            ServedHosts.isHost($0) ? $0 : nil
        }
        return ServedHosts(
            names: [publicURL.host] + (names ?? ["localhost"]), includesAddresses: names == nil)
            ?? .any
    }

    static func path(_ value: JSONValue) -> String? {
        value.string.flatMap { $0.isEmpty || $0.utf8.contains(0) ? nil : $0 }
    }

    /// A URL that is nothing but scheme, host and port. `HTTPTargetURI` leaves query and fragment out, so they are looked for
    /// in the text.
    private static func origin(_ text: String) -> HTTPTargetURI? {
        guard !text.contains("?"), !text.contains("#"), let uri = HTTPTargetURI(text),
            uri.htu.hasSuffix("/"), uri.htu.split(separator: "/").count == 2
        else { return nil }
        return uri
    }
}
