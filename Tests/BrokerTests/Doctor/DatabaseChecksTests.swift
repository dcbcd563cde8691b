import Testing

@testable import Broker

/// What is said of a database, from facts.
@Suite struct DatabaseChecksTests {
    private func server(
        isWritable: Bool = true, off: [String] = [], ahead: Int64 = 0
    ) -> DatabaseFacts.Server {
        let now: Int64 = 1_800_000_000_000_000
        return DatabaseFacts.Server(
            login: "token-broker", isWritable: isWritable, switchedOff: off,
            clock: ClockComparison(
                asked: now + ahead, answered: now + ahead, earliest: now, latest: now))
    }

    private func codes(
        _ server: DatabaseFacts.Server, schema: DatabaseFacts.Schema = .current(9),
        roles: Result<RoleFacts, PostgresError>? = nil
    ) -> Set<FindingCode> {
        Set(
            DatabaseChecks.findings(
                DatabaseFacts(server: .success(server), schema: schema, roles: roles)
            ).map(\.code))
    }

    @Test func `one that is as it should be is ok throughout`() {
        #expect(codes(server()) == [.databaseReachable, .clockAgrees, .schemaCurrent])
    }

    @Test(arguments: [
        (PostgresError.malformedConnectionString, FindingCode.databaseMalformedURL),
        (.cannotConnect("x"), .databaseUnreachable), (.timedOut, .databaseUnreachable),
        (.connectionLost("x"), .databaseUnreachable),
        (.server(sqlState: "42501", message: "x"), .databaseNoPrivilege),
        (.server(sqlState: "42P01", message: "x"), .schemaOutdated),
        (.server(sqlState: "42703", message: "x"), .schemaOutdated),
        (.server(sqlState: "53300", message: "x"), .databaseRefused),
        (.unexpectedAnswer("client app: x"), .declarationUnreadable),
    ])
    func `each error has its code, and ends the list`(error: PostgresError, code: FindingCode) {
        let findings = DatabaseChecks.findings(DatabaseFacts(server: .failure(error)))
        #expect(findings.map(\.code) == [code])
        #expect(code.level == .fault)
    }

    @Test func `a driver's message stays on one line`() {
        let finding = DatabaseChecks.finding(.cannotConnect("a\n\tb\u{1b}[1m\u{2028}c"))
        #expect(finding.detail.contains("a  b [1m c"))
    }

    @Test func `read only, and commits that are none, are faults`() {
        #expect(codes(server(isWritable: false)).contains(.databaseReadOnly))
        #expect(!codes(server(isWritable: false)).contains(.databaseReachable))
        #expect(codes(server(off: ["fsync"])).contains(.databaseNotDurable))
    }

    @Test(arguments: [
        (Int64(0), FindingCode.clockAgrees), (1_999_999, .clockAgrees), (-1_999_999, .clockAgrees),
        (2_000_000, .clockDatabaseDrifts), (-2_000_000, .clockDatabaseDrifts),
        (30_000_000, .clockDatabaseDrifts), (30_000_001, .clockDatabaseOff),
        (-30_000_001, .clockDatabaseOff),
    ])
    func `the clock is judged where the broker begins to refuse`(ahead: Int64, code: FindingCode) {
        #expect(codes(server(ahead: ahead)).contains(code))
    }

    @Test(arguments: [
        (DatabaseFacts.Schema.missing, FindingCode.schemaMissing),
        (.outdated(program: 9), .schemaOutdated), (.newer(database: 10, program: 9), .schemaNewer),
        (.contradicts("x"), .schemaContradicts),
        (.failed(.server(sqlState: "42501", message: "")), .databaseNoPrivilege),
    ])
    func `a schema that is not current says how`(schema: DatabaseFacts.Schema, code: FindingCode) {
        #expect(codes(server(), schema: schema) == [.databaseReachable, .clockAgrees, code])
    }

    private func role(
        login: Bool = true, service: Bool = true, superuser: Bool = false,
        superusers: [String] = [], serverRoles: [String] = [], owns: Bool = false,
        creates: Bool = false, attributes: [String] = [], writes: [String] = [],
        calls: [String] = []
    ) -> RoleFacts.Role {
        RoleFacts.Role(
            name: "token-broker", canLogin: login, isConfigured: false, isService: service,
            isSuperuser: superuser, superusers: superusers, serverRoles: serverRoles, owns: owns,
            creates: creates, attributes: attributes, writes: writes, calls: calls)
    }

    private func codes(_ roles: RoleFacts.Role..., hasServiceRole: Bool = true) -> [FindingCode] {
        RoleChecks.findings(RoleFacts(hasServiceRole: hasServiceRole, roles: roles)).map(\.code)
    }

    @Test func `a login that may do no more than the service needs is restricted`() {
        #expect(codes(role(login: false), role()) == [.roleRestricted])
    }

    @Test func `each power too much makes a role too strong`() {
        #expect(codes(role(superuser: true)) == [.roleTooStrong])
        #expect(codes(role(superusers: ["postgres"])) == [.roleTooStrong])
        #expect(codes(role(serverRoles: ["pg_read_server_files"])) == [.roleTooStrong])
        #expect(codes(role(owns: true)) == [.roleTooStrong])
        #expect(codes(role(creates: true)) == [.roleTooStrong])
        #expect(codes(role(attributes: ["CREATEROLE"])) == [.roleTooStrong])
        #expect(codes(role(writes: ["DELETE on assertion_jti"])) == [.roleTooStrong])
        #expect(codes(role(calls: ["bump_revision"])) == [.roleTooStrong])
        // The group itself, from which every login has it.
        #expect(
            codes(role(login: false, calls: ["clear_limit"]), role())
                == [.roleTooStrong, .roleRestricted])
    }

    @Test func `nobody in the role, or no role, is told`() {
        #expect(codes(role(login: false)) == [.roleUnused])
        #expect(codes(hasServiceRole: false) == [.roleMissing])
        // A configured login that is no member does not make the role used.
        #expect(codes(role(login: false), role(service: false)) == [.roleRestricted, .roleUnused])
    }
}
