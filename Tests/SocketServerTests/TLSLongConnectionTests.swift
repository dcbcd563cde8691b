import Foundation
import TestKit
import Testing

@testable import SocketServer

/// A connection may stay open for longer than what its handshake found holds.
@Suite struct TLSLongConnectionTests {
    static let versions = ["1.2", "1.3"]
    static let refused = "400 close clientCertificateRefused"

    @Test(arguments: versions)
    func `a certificate that ends takes its connections with it, and says so in time`(
        version: String
    ) async throws {
        let world = try await World()
        let end = try world.notAfter("short")
        world.clock.set(end - 1000)
        for isResumed in [false, true] {
            let (visitor, late) = (
                try await world.visitor(version, "short"), try await world.visitor(version, "short")
            )
            for visitor in [visitor, late] where isResumed {
                #expect(try await visitor.say("ask").hasPrefix("200 keep"))
                #expect(try await visitor.say("again") == "resumed")
            }
            world.clock.set(end - TLSSession.farewell)
            #expect(try await visitor.say("ask").hasPrefix("200 keep"))
            #expect(try await late.say("ask").hasPrefix("200 keep"))
            world.clock.set(end - TLSSession.farewell + 1)
            #expect(try await visitor.say("ask").hasPrefix("200 close"))
            #expect(try await visitor.say("await") == "goodbye")
            world.clock.set(end + 1)
            #expect(try await late.say("ask") == Self.refused)
            #expect(try await late.say("await") == "goodbye")
            world.clock.set(end - 1000)
        }
        // Nobody's request ran on the word of a certificate that had ended.
        #expect(world.server.handler.handled.count == 8)
        await world.server.stop()
    }

    @Test(arguments: versions)
    func `revocation lists that run out end the connections that rest on them`(version: String)
        async throws
    {
        let world = try await World(lists: "lists")
        let end = try #require(world.server.server.tls?.revocationNotAfter)
        world.clock.set(end - 1000)
        let visitor = try await world.visitor(version, "good")
        let stranger = try await world.visitor(version, nil)
        #expect(try await visitor.say("ask").hasPrefix("200 keep"))
        world.clock.set(end + 1)
        #expect(try await visitor.say("ask") == Self.refused)
        #expect(try await stranger.say("ask") == "200 keep none")
        await world.server.stop()
    }

    @Test func `a handshake counts for a day at most`() async throws {
        let world = try await World()
        let visitors = [
            try await world.visitor("1.3", "good"), try await world.visitor("1.3", "good"),
        ]
        for visitor in visitors { #expect(try await visitor.say("ask").hasPrefix("200 keep")) }
        world.clock.advance(86_400)
        #expect(try await visitors[0].say("ask").hasPrefix("200 close"))
        world.clock.advance(1)
        #expect(try await visitors[1].say("ask") == Self.refused)
        await world.server.stop()
    }

    @Test(arguments: versions)
    func `other authorities and new lists act on the next request of open connections`(
        version: String
    ) async throws {
        let world = try await World()
        let names = ["good", "by-issuing", "revoked", "revoked-below"]
        var visitors: [String: Visitor] = [:]
        for name in names {
            visitors[name] = try await world.visitor(version, name)
            #expect(try await visitors[name]?.say("ask").hasPrefix("200 keep") == true)
        }
        let (silent, stranger) = (
            try await world.visitor(version, "revoked"), try await world.visitor(version, nil)
        )
        try world.server.server.reload(world.configuration("root", lists: "lists"))
        for name in ["good", "by-issuing"] {
            // Judged again, by what came along in its handshake: good, but the next request needs a new one.
            #expect(try await visitors[name]?.say("ask").hasPrefix("200 close") == true)
        }
        for name in ["revoked", "revoked-below"] {
            #expect(try await visitors[name]?.say("ask") == Self.refused)
        }
        #expect(try await silent.say("ask") == Self.refused)
        #expect(try await stranger.say("ask") == "200 keep none")
        #expect(
            world.events.withLock(\.first)
                == .clientCertificateRefused(.loopback, reason: "certificate revoked"))
        await world.server.stop()
    }

    @Test(arguments: versions)
    func `a resumed session is judged anew after a reload, by its certificate alone`(
        version: String
    ) async throws {
        let world = try await World()
        var visitors: [String: Visitor] = [:]
        for name in ["good", "by-issuing"] {
            let visitor = try await world.visitor(version, name)
            #expect(try await visitor.say("ask").hasPrefix("200 keep"))
            #expect(try await visitor.say("again") == "resumed")
            visitors[name] = visitor
        }
        try world.server.server.reload(world.configuration("root"))
        #expect(try await visitors["good"]?.say("ask").hasPrefix("200 close") == true)
        // Its issuer is not in the authorities' file, and a ticket holds no chain: in doubt it is refused.
        #expect(try await visitors["by-issuing"]?.say("ask") == Self.refused)
        await world.server.stop()
    }

    @Test func `authorities that are gone take their clients' connections with them`() async throws
    {
        let world = try await World()
        let visitor = try await world.visitor("1.3", "good")
        #expect(try await visitor.say("ask").hasPrefix("200 keep"))
        try world.server.server.reload(world.configuration("other-root"))
        #expect(try await visitor.say("ask") == Self.refused)
        let other = try await world.visitor("1.3", "unknown-authority")
        #expect(try await other.say("ask").hasPrefix("200 keep"))
        try world.server.server.reload(world.configuration(nil))
        #expect(try await other.say("ask") == Self.refused)
        await world.server.stop()
    }

    @Test(arguments: versions)
    func `a connection that ends between two requests ends with close_notify`(version: String)
        async throws
    {
        let idle = try await World { $0.deadlines.idle = .milliseconds(150) }
        let first = try await idle.visitor(version, nil)
        #expect(try await first.say("ask") == "200 keep none")
        #expect(try await first.say("await") == "goodbye")
        await idle.server.stop()

        let silent = try await World { $0.deadlines.head = .milliseconds(150) }
        let second = try await silent.visitor(version, nil)
        #expect(try await second.say("await") == "goodbye")
        await silent.server.stop()

        let full = try await World(lanes: 1) { $0.maximumConnections = 1 }
        let third = try await full.visitor(version, nil)
        #expect(try await third.say("ask") == "200 keep none")
        let fourth = try await full.visitor(version, nil)
        #expect(try await fourth.say("ask") == "200 keep none")
        #expect(try await third.say("await") == "goodbye")
        let drained = Task { await full.server.server.drain(grace: .seconds(60)) }
        #expect(try await fourth.say("await") == "goodbye")
        await drained.value
    }
}

/// A server on a clock of the test's own.
private struct World {
    let server: TestServer
    let clock = TestClock()
    let events = Locked<[ServerEvent]>([])
    private let certificates: TestCertificates

    init(
        lists: String? = nil, lanes: Int = 2,
        configure: (inout HTTPServerConfiguration) -> Void = { _ in }
    ) async throws {
        certificates = try await TestCertificates.shared()
        let (clock, events) = (clock, events)
        var tls = certificates.configuration(authorities: "root", lists: lists)
        tls.now = { clock.now }
        server = try TestServer(lanes: lanes, tls: tls) {
            $0.observe = { event in events.withLock { $0.append(event) } }
            configure(&$0)
        }
    }

    func configuration(_ authorities: String?, lists: String? = nil) -> TLSConfiguration {
        var configuration = certificates.configuration(authorities: authorities, lists: lists)
        configuration.now = { [clock] in clock.now }
        return configuration
    }

    /// The last second of a client's certificate.
    func notAfter(_ name: String) throws -> Int64 {
        let file = try TLSFile(certificates.file(name))
        return try #require(try PEM.certificates(in: file.octets, atMost: 9).first?.notAfter)
    }

    /// A client that has connected, with this certificate or none.
    func visitor(_ version: String, _ client: String?) async throws -> Visitor {
        let arguments =
            ["\(server.port)", certificates.file("root"), version]
            + (client.map { [certificates.file($0)] } ?? [])
        return try await Visitor(arguments)
    }
}

/// `Tests/Oracle/tls_visitor.py`. Sendable: one question at a time is asked of the command.
private final class Visitor: @unchecked Sendable {
    private let command: Command

    init(_ arguments: [String]) async throws {
        let python = ProcessInfo.processInfo.environment["PYTHON"] ?? "python3"
        command = try Command(python, [Fixtures.path("Oracle/tls_visitor.py")] + arguments)
        let greeting = try await offPool { [self] in command.readLine() }
        guard greeting == "connected" else { throw ClientError(text: "not connected") }
    }

    /// What it answers to a line.
    func say(_ line: String) async throws -> String {
        try await offPool { [self] in
            command.write(line + "\n")
            return command.readLine()
        }
    }
}
