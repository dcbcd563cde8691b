import JOSE
import SocketServer
import Testing

@testable import Broker

@Suite struct ServeConfigurationTests {
    static let good = """
        {
          // what a person writes
          listen: { address: "127.0.0.1", port: 8443 },
          public_url: "https://broker.example",
        }
        """

    func read(_ text: String, cores: Int = 4) throws -> ServeConfiguration {
        try ServeConfiguration(Array(text.utf8), cores: cores)
    }

    func faults(_ text: String) -> [String] {
        do {
            _ = try ServeConfiguration(Array(text.utf8), cores: 4)
            return []
        } catch {
            return error.faults.map { "\($0.path): \($0.message)" }
        }
    }

    @Test func `defaults are taken for what is left out`() throws {
        let configuration = try read(Self.good)
        #expect(configuration.lanes == 4)
        #expect(configuration.shutdownGraceSeconds == 20)
        #expect(configuration.dpopMaximumAge == 60)
        #expect(configuration.dpopMaximumAhead == 10)
        #expect(configuration.tls == nil)
        #expect(configuration.databaseURLFile == nil)
        #expect(configuration.publicURL.htu == "https://broker.example/")
    }

    @Test func `a machine that names no cores gets one lane`() throws {
        #expect(try read(Self.good, cores: 0).lanes == 1)
    }

    @Test func `every member is read`() throws {
        let configuration = try read(
            """
            {listen: {address: "::", port: 0}, public_url: "https://b.example:8443/",
             tls: {certificate_file: "/c.pem", key_file: "/k.pem", client_authority_file: "/a.pem",
              client_revocation_file: "/r.pem"}, database_url_file: "/url",
             migrations_directory: "/m", lanes: 256, shutdown_grace_seconds: 600,
             dpop: {maximum_age: 300, maximum_ahead: 60}}
            """)
        #expect(configuration.listen == .tcp(address: "::", port: 0))
        #expect(configuration.publicURL.htu == "https://b.example:8443/")
        #expect(configuration.tls?.certificateFile == "/c.pem")
        #expect(configuration.tls?.keyFile == "/k.pem")
        #expect(configuration.tls?.clientAuthorityFile == "/a.pem")
        #expect(configuration.tls?.clientRevocationFile == "/r.pem")
        #expect(configuration.takesCertificates)
        #expect(configuration.databaseURLFile == "/url")
        #expect(configuration.migrationsDirectory == "/m")
        #expect(configuration.lanes == 256)
        #expect(configuration.shutdownGraceSeconds == 600)
        #expect(configuration.dpopMaximumAge == 300)
        #expect(configuration.dpopMaximumAhead == 60)
    }

    /// Each breaks one rule of a file that is good otherwise.
    @Test(arguments: [
        (#"listen: {address: "127.0.0.1", port: 65536}"#, "listen.port"),
        (#"listen: {address: "127.0.0.1", port: -1}"#, "listen.port"),
        (#"listen: {address: "127.0.0.1", port: "80"}"#, "listen.port"),
        (#"listen: {address: "127.0.0.1", port: 80.5}"#, "listen.port"),
        (#"listen: {address: "127.0.0.1"}"#, "listen.port"),
        (#"listen: {port: 1}"#, "listen.address"),
        (#"listen: {address: "localhost", port: 1}"#, "listen.address"),
        (#"listen: {address: "127.0.0.256", port: 1}"#, "listen.address"),
        (#"listen: {address: "0.0.0.0", port: 1}"#, "listen.address"),
        (#"listen: {address: "::", port: 1}"#, "listen.address"),
        (#"listen: {address: 1, port: 1}"#, "listen.address"),
        (#"listen: {address: "127.0.0.1", port: 1, backlog: 1}"#, "listen.backlog"),
        (#"listen: []"#, "listen"),
        (#"listen: {unix: "run/broker.sock"}"#, "listen.unix"),
        (#"listen: {unix: "/run/"}"#, "listen.unix"), (#"listen: {unix: 1}"#, "listen.unix"),
        (#"listen: {mode: "0660"}"#, "listen.unix"),
        (#"listen: {unix: "/run/a", mode: 660}"#, "listen.mode"),
        (#"listen: {unix: "/run/a", mode: "4755"}"#, "listen.mode"),
        (#"listen: {unix: "/run/a", port: 1}"#, "listen.port"),
        (#"listen: {unix: "/run/a", address: "::1"}"#, "listen.address"),
        (#"listen: {systemd: false}"#, "listen.systemd"),
        (#"listen: {systemd: "x"}"#, "listen.systemd"),
        (#"listen: {systemd: true, port: 1}"#, "listen.port"),
        (#"listen: {systemd: true, unix: "/run/a"}"#, "listen.unix"),
        (#"host_names: []"#, "host_names"), (#"host_names: "a""#, "host_names"),
        (#"host_names: ["a", "b:80"]"#, "host_names[1]"), (#"host_names: [1]"#, "host_names[0]"),
        (#"trusted_proxies: []"#, "trusted_proxies"),
        (#"trusted_proxies: {field: "forwarded"}"#, "trusted_proxies.addresses"),
        (#"trusted_proxies: {addresses: [], field: "forwarded"}"#, "trusted_proxies.addresses"),
        (
            #"trusted_proxies: {addresses: ["10.0.0.1/8"], field: "forwarded"}"#,
            "trusted_proxies.addresses[0]"
        ),
        (
            #"trusted_proxies: {addresses: ["::1", "0.0.0.0/0"], field: "forwarded"}"#,
            "trusted_proxies.addresses[1]"
        ),
        (
            #"trusted_proxies: {addresses: ["unix"], field: "forwarded"}"#,
            "trusted_proxies.addresses"
        ),
        (#"trusted_proxies: {addresses: ["::1"]}"#, "trusted_proxies.field"),
        (#"trusted_proxies: {addresses: ["::1"], field: "via"}"#, "trusted_proxies.field"),
        (
            #"trusted_proxies: {addresses: ["::1"], field: "forwarded", hops: 1}"#,
            "trusted_proxies.hops"
        ),
        (#"public_url: "https://broker.example/base""#, "public_url"),
        (#"public_url: "https://broker.example?x""#, "public_url"),
        (#"public_url: "https://broker.example#x""#, "public_url"),
        (#"public_url: "https://me@broker.example""#, "public_url"),
        (#"public_url: "broker.example""#, "public_url"),
        (#"public_url: "ftp://broker.example""#, "public_url"),
        (#"public_url: 5"#, "public_url"),
        (#"lanes: 0"#, "lanes"), (#"lanes: 257"#, "lanes"), (#"lanes: "2""#, "lanes"),
        (#"lanes: 1e400"#, "lanes"), (#"lanes: null"#, "lanes"),
        (#"shutdown_grace_seconds: 0"#, "shutdown_grace_seconds"),
        (#"shutdown_grace_seconds: 601"#, "shutdown_grace_seconds"),
        (#"dpop: {maximum_age: 4}"#, "dpop.maximum_age"),
        (#"dpop: {maximum_age: 301}"#, "dpop.maximum_age"),
        (#"dpop: {maximum_ahead: 9}"#, "dpop.maximum_ahead"),
        (#"dpop: {maximum_ahead: 61}"#, "dpop.maximum_ahead"),
        (#"dpop: {window: 1}"#, "dpop.window"), (#"dpop: true"#, "dpop"),
        (#"database_url_file: """#, "database_url_file"),
        (#"database_url_file: 1"#, "database_url_file"),
        (#"migrations_directory: false"#, "migrations_directory"),
        (#"tls: {certificate_file: "c"}"#, "tls.key_file"),
        (#"tls: {key_file: "k"}"#, "tls.certificate_file"),
        (#"tls: {certificate_file: "", key_file: "k"}"#, "tls.certificate_file"),
        (#"tls: {certificate_file: "c", key_file: "k", ciphers: "x"}"#, "tls.ciphers"),
        (
            #"tls: {certificate_file: "c", key_file: "k", client_authority_file: ""}"#,
            "tls.client_authority_file"
        ),
        (
            #"tls: {certificate_file: "c", key_file: "k", client_revocation_file: "r"}"#,
            "tls.client_revocation_file"
        ),
        (
            #"tls: {certificate_file: "c", key_file: "k", client_authority_file: "a", client_revocation_file: 1}"#,
            "tls.client_revocation_file"
        ),
        (#"lane: 2"#, "lane"), (#"database_url: "postgres:///x""#, "database_url"),
    ])
    func `one broken rule is one fault that names its member`(member: String, path: String) {
        let name = member.prefix { $0 != ":" }
        let others = [
            #"listen: {address: "127.0.0.1", port: 1}"#, #"public_url: "https://broker.example""#,
        ].filter { !$0.hasPrefix("\(name):") }
        let found = faults("{\((others + [member]).joined(separator: ",\n"))}")
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("\(path): ") == true, "\(found)")
    }

    @Test
    func `a Unix socket needs no TLS, and its group may connect unless the file says otherwise`()
        throws
    {
        let path = try #require(UnixSocketPath("/run/broker.sock"))
        func listen(_ text: String) throws -> ListeningEndpoint {
            try read("{listen: \(text), public_url: \"https://broker.example\"}").listen
        }
        #expect(try listen("{systemd: true}") == .inherited(descriptor: 3))
        #expect(try listen(#"{unix: "/run/broker.sock"}"#) == .unix(path, mode: .ownerAndGroup))
        #expect(
            try listen(#"{unix: "/run/broker.sock", mode: "0600"}"#)
                == .unix(path, mode: try #require(FileMode(octal: "600"))))
    }

    @Test(
        arguments: [
            (#"{unix: "/run/a"}"#, #"["unix"]"#, []),
            (#"{unix: "/run/a"}"#, #"["10.0.0.0/8"]"#, ["trusted_proxies.addresses"]),
            (#"{unix: "/run/a", mode: "0666"}"#, #"["unix"]"#, ["trusted_proxies.addresses"]),
            (#"{address: "0.0.0.0", port: 1}"#, #"["10.0.0.0/8", "2001:db8::/32"]"#, []),
            (#"{address: "127.0.0.1", port: 1}"#, #"["127.0.0.1"]"#, []),
        ] as [(String, String, [String])])
    func `proxies must fit what is listened on, and no stranger may pass for one`(
        listen: String, addresses: String, places: [String]
    ) {
        let found = faults(
            """
            {listen: \(listen), public_url: "https://broker.example",
             trusted_proxies: {addresses: \(addresses), field: "forwarded"}}
            """)
        #expect(found.map { String($0.prefix { $0 != ":" }) } == places)
    }

    @Test func `trusted proxies are read`() throws {
        let configuration = try read(
            """
            {listen: {address: "0.0.0.0", port: 1}, public_url: "https://broker.example",
             trusted_proxies: {addresses: ["10.0.0.0/8", "::1"], field: "x_forwarded_for"}}
            """)
        let ranges = try ["10.0.0.0/8", "::1"].map { try #require(AddressRange($0)) }
        #expect(
            configuration.trustedProxies == TrustedProxies(ranges: ranges, field: .xForwardedFor))
    }

    @Test func `the public host, localhost and addresses are served unless hosts are listed`()
        throws
    {
        #expect(
            try read(Self.good).hosts
                == ServedHosts(names: ["broker.example", "localhost"], includesAddresses: true))
        let listed = try read(
            Self.good.replacing("public_url", with: "host_names: [\"a\"], public_url"))
        #expect(
            listed.hosts == ServedHosts(names: ["broker.example", "a"], includesAddresses: false))
    }

    @Test func `TLS under an http URL is a fault`() {
        let found = faults(
            """
            {listen: {address: "0.0.0.0", port: 1}, public_url: "http://broker.example",
             tls: {certificate_file: "c", key_file: "k"}}
            """)
        #expect(found == ["public_url: must be https, since the broker serves TLS"])
    }

    @Test func `the limit on failed authentications has a default and can be set`() throws {
        #expect(
            try read(Self.good).failedAuthentications
                == LimitSettings(burst: 1000, rate: 100, per: 1))
        let set = Self.good.replacing(
            "listen:", with: "failed_authentications: {burst: 5, rate: 1, per: 60}, listen:")
        #expect(
            try read(set).failedAuthentications == LimitSettings(burst: 5, rate: 1, per: 60))
    }

    @Test(arguments: [
        ("5", "failed_authentications: must be an object"),
        ("{burst: 5, rate: 1}", "failed_authentications.per: is missing"),
        ("{burst: 0, rate: 1, per: 1}", "failed_authentications.burst: must be a whole number"),
        ("{burst: 1, rate: 1, per: 1, off: true}", "failed_authentications.off: unknown member"),
    ])
    func `a limit that is none is refused by name`(_ value: String, _ fault: String) {
        let text = Self.good.replacing("listen:", with: "failed_authentications: \(value), listen:")
        let found = faults(text)
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix(fault) == true)
    }

    @Test func `all faults are named at once, each with its place`() throws {
        let text = """
            {
              listen: { address: 1, port: 70000 },
              public_url: "x",
              lanes: 0,
              tsl: {},
              dpop: { maximum_age: 1, maximum_ahead: 1 },
            }
            """
        let refused = try #require(throws: DocumentRefused.self) { try self.read(text) }
        let places = refused.faults.map { "\($0.path) \($0.line):\($0.column)" }
        #expect(
            Set(places) == [
                "listen.address 2:22", "listen.port 2:31", "public_url 3:15", "lanes 4:10",
                "tsl 5:3", "dpop.maximum_age 6:24", "dpop.maximum_ahead 6:42",
            ])
        #expect(refused.description.split(separator: "\n").count == places.count)
    }

    @Test(arguments: ["", "[]", "1", "{", "{listen: {}} x", "{lanes: 1, lanes: 2}", "\u{feff}[]"])
    func `what is no object is refused, without a trap`(_ text: String) {
        #expect(!faults(text).isEmpty)
    }
}
