import JOSE
import TestKit
import Testing

@testable import Broker

/// systemd's side is played by a script: it holds the socket and hears the notifications (sd_listen_fds(3), sd_notify(3)).
@Suite struct SocketActivationTests {
    @Test func `restarts under load lose no connection, and the manager hears of each step`()
        async throws
    {
        let deployment = try await Deployment()
        let body =
            #"{"client_id":"app","audience":"\#(Sample.issuer)","dpop_jkt":"\#(Sample.jkt)"}"#
        let report = try await Oracle.run(
            "socket_activation.py",
            [
                BrokerProgram.path, try deployment.configuration(listen: "{systemd: true}"), body,
                deployment.token, "3",
            ], input: "")
        let result = try JSONValue(parsing: Array(report.utf8))
        #expect(result["exits"]?.array?.compactMap(\.integer) == [0, 0, 0, 0])
        #expect(result["failures"]?.array?.compactMap(\.string) == [])
        let minted = try #require(result["minted"]?.integer)
        #expect(minted >= 600)
        // A connection that waited for the next process may find its database connection not yet there.
        #expect(result["others"]?.array?.compactMap(\.string) == [])
        #expect(try await deployment.jtis().count >= minted)
    }

    @Test func `a start without a socket is refused in words`() async throws {
        let deployment = try await Deployment()
        let path = try deployment.configuration(listen: "{systemd: true}")
        let result = try await BrokerProgram.run("serve", "--config", path)
        #expect(result.status == 65)
        #expect(result.errorText.contains("systemd"))
    }
}
