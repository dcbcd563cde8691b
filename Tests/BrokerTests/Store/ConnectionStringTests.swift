import TestKit
import Testing

@testable import Broker

/// Connection strings that are not good, and what errors say of them: never a piece of the string.
@Suite struct ConnectionStringTests {
    private func failure(of conninfo: String) async -> PostgresError? {
        do throws(PostgresError) {
            _ = try await ControlConnection(conninfo: conninfo).query("SELECT 1")
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        // What a password looks like to libpq with a character in it that was not percent-encoded.
        "postgres://u:hunter2/x@127.0.0.1/db", "postgres://u:1/hunter2@127.0.0.1/db",
        "postgresql://u:x@hunter2@127.0.0.1/db", "postgres://u:x@/hunter2@127.0.0.1/db",
        "postgres://u:x?hunter2/@127.0.0.1/db", "postgres://u:hunter2%zz@127.0.0.1/db",
        "postgres://u:%hunter2@127.0.0.1/db", "postgres://u:%00hunter2@127.0.0.1/db",
        "postgres://u:x@[hunter2", "postgres://u:x@[::1]hunter2/db",
        "postgres://u:x@hun ter2hunter2/db", "postgres://u:x@127.0.0.1:hunter2/db",
        "postgres://u:x@127.0.0.1:1,127.0.0.2:hunter2/db", "postgres://u@x:hunter2@127.0.0.1/db",
        // Queries.
        "postgres://127.0.0.1:1/db?hunter2", "postgres://127.0.0.1:1/db?hunter2=1",
        "postgres://127.0.0.1:1/db?password=a=hunter2", "postgres://127.0.0.1:1/db?a=1?hunter2",
        "postgres://127.0.0.1:1/db?password=%hunter2",
        // Lists of keywords.
        "hunter2", "host=127.0.0.1 port=1 password=a hunter2", "port=1 password='hunter2",
        "port=1 password=a hunter2=b", "port=1 password='a'hunter2", "hunter2 host=127.0.0.1",
        "host=127.0.0.1,127.0.0.1 port=1,hunter2", "host=a,b,c port=1,2 password=hunter2",
    ])
    func `a string that libpq cannot read as it was meant is malformed`(conninfo: String)
        async throws
    {
        let error = try #require(await failure(of: conninfo))
        #expect(error == .malformedConnectionString)
        #expect(!"\(error)".contains("hunter2"))
    }

    @Test(arguments: [
        "host", "hostaddr", "port", "connect_timeout", "keepalives", "keepalives_idle",
        "keepalives_interval", "keepalives_count", "tcp_user_timeout", "sslmode",
        "target_session_attrs", "channel_binding", "gssencmode", "ssl_min_protocol_version",
        "ssl_max_protocol_version", "service",
    ])
    func `a setting with no such value is malformed, whichever it is`(keyword: String) async throws
    {
        // A host may be called so, but not with a blank.
        let value = keyword == "host" ? "hunter2 x" : "hunter2"
        let error = try #require(await failure(of: "host=127.0.0.1 port=1 \(keyword)='\(value)'"))
        #expect(error == .malformedConnectionString)
        #expect(!"\(error)".contains("hunter2"))
    }

    @Test(arguments: [
        "client_encoding=hunter2", "options=hunter2", "options=--hunter2", "options=-chunter2%3D1",
        "options=-cwork_mem%3Dhunter2", "replication=hunter2",
    ])
    func `a setting that the server refuses is malformed`(setting: String) async throws {
        let url = try await PostgresCluster.shared().freshDatabase()
        let error = try #require(await failure(of: "\(url)&\(setting)"))
        #expect(error == .malformedConnectionString)
        #expect(!"\(error)".contains("hunter2"))
    }

    @Test(arguments: Array("/?#@:%[]&='\\ ,;+!$()*<>\"^|{}~`"))
    func `no piece of a password is shown, whatever character is in it`(character: Character)
        async throws
    {
        for password in [
            "qwertz\(character)hunter2", "\(character)hunter2", "hunter2\(character)",
            "1\(character)hunter2", "1\(character)2\(character)hunter2",
        ] {
            for conninfo in [
                "postgres://u:\(password)@127.0.0.1:1/db",
                "postgres://127.0.0.1:1/db?user=u&password=\(password)",
                "host=127.0.0.1 port=1 user=u password=\(password)",
                "host=127.0.0.1 port=1 user=u password='\(password)'",
            ] {
                let error = try #require(await failure(of: conninfo))
                let text = "\(error)"
                #expect(!text.contains("hunter2") && !text.contains("qwertz"), "\(text)")
            }
        }
    }

    @Test func `why a server cannot be reached is still said`() async throws {
        for conninfo in [
            "postgresql://u:p%40%2Fss@127.0.0.1:1/db",
            "postgresql://u:p?s#s@127.0.0.1:1,[::1]:1/db",
            "host=127.0.0.1 port=' 1 ' connect_timeout=3",
            "postgresql://@127.0.0.1:1/db?keepalives=0",
        ] {
            guard case .cannotConnect(let why) = await failure(of: conninfo) else {
                Issue.record("another error: \(conninfo)")
                continue
            }
            #expect(why.contains("Connection refused"), "\(why)")
        }
        let url = try await PostgresCluster.shared().freshDatabase()
        let nobody = url.replacing("user=postgres", with: "user=nobody_by_that_name")
        guard case .cannotConnect(let why) = await failure(of: nobody) else {
            Issue.record("no such role")
            return
        }
        #expect(why.contains("nobody_by_that_name"))
    }
}
