import TestKit
import Testing

@testable import Broker

@Suite struct BatchStatementTests {
    @Test func `Postgres reads our binary arrays as what they were`() async throws {
        let url = try await PostgresCluster.shared().freshDatabase()
        let link = try PostgresLink(connecting: url, deadline: .now().adding(milliseconds: 20_000))
        var bound = StatementParameters()
        bound.append(bigints: [.min, -1, 0, 1, .max])
        bound.append(integers: [.min, 0, .max])
        bound.append(optionalBigints: [1, nil])
        bound.append(texts: ["", "a,\"b\\", "é{}", "NULL"])
        bound.append(byteas: [[], nil, [0, 255, 92]])
        bound.append(texts: [])
        bound.append(bytea: [])
        bound.appendNull()
        let result = try link.run(
            """
            SELECT $1::bigint[], $2::integer[], $3::bigint[], $4::text[], $5::bytea[], $6::text[],
                $7::bytea, $8::text
            """, bound, deadline: .now().adding(milliseconds: 20_000))
        let texts = (0..<result.columnCount).map { result.text(row: 0, column: $0) }
        #expect(
            texts == [
                "{-9223372036854775808,-1,0,1,9223372036854775807}",
                "{-2147483648,0,2147483647}", "{1,NULL}", #"{"","a,\"b\\","é{}","NULL"}"#,
                #"{"\\x",NULL,"\\x00ff5c"}"#, "{}", #"\x"#, nil,
            ])
    }

    @Test func `a control connection tells each kind of failure apart`() async throws {
        let url = try await PostgresCluster.shared().freshDatabase()
        let connection = ControlConnection(conninfo: url)
        await #expect { try await connection.query("SELECT 1/0") } throws: {
            ($0 as? PostgresError)?.sqlState == "22012"
        }
        #expect(try await connection.query("SELECT 1 AS one")[0].integer("one") == 1)
        await #expect(throws: PostgresError.malformedConnectionString) {
            try await ControlConnection(conninfo: "port=x y").query("SELECT 1")
        }
        await #expect {
            try await ControlConnection(conninfo: "postgresql:///x?host=/nonexistent")
                .query("SELECT 1")
        } throws: {
            if case .cannotConnect = $0 as? PostgresError { true } else { false }
        }
        let hurried = ControlConnection(conninfo: url, statementLimitMilliseconds: 100)
        await #expect(throws: PostgresError.timedOut) {
            try await hurried.query("SELECT pg_sleep(600)")
        }
        let value = SQLValue.text("'; DROP SCHEMA broker CASCADE; --")
        let echoed = try await connection.query("SELECT $1 AS text", value)
        #expect(try echoed[0].text("text") == "'; DROP SCHEMA broker CASCADE; --")
    }

    @Test func `a transaction that throws leaves nothing behind`() async throws {
        let connection = ControlConnection(
            conninfo: try await PostgresCluster.shared().freshDatabase())
        await #expect(throws: PostgresError.self) {
            try await connection.transaction { session throws(PostgresError) in
                try session.query("INSERT INTO broker.tenant (tenant_id) VALUES ('t')")
                try session.query("SELECT 1/0")
            }
        }
        let rows = try await connection.query("SELECT count(*) FROM broker.tenant")
        #expect(try rows[0].integer("count") == 0)
    }
}
