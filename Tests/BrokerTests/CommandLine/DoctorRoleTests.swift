import JOSE
import TestKit
import Testing

/// What `broker doctor` says of logins that may do more than the service needs.
@Suite struct DoctorRoleTests {
    @Test func `a login is judged by all it may do as any role that it can become`() async throws {
        let world = try await DoctorTests.World()
        // The login, what it is given, what is said of it; none inherits anything.
        let powers: [(login: String, given: String, detail: String)] = [
            ("doctor_power_member", "GRANT postgres TO doctor_power_member", "\"postgres\""),
            (
                "doctor_power_far",
                """
                CREATE ROLE doctor_power_between NOINHERIT IN ROLE postgres;
                GRANT doctor_power_between TO doctor_power_far
                """, "it can become a superuser: \"postgres\""
            ),
            (
                "doctor_power_program",
                """
                GRANT CREATE ON SCHEMA broker TO doctor_power_program;
                GRANT pg_execute_server_program TO doctor_power_program
                """,
                "it is a member of pg_execute_server_program; it may CREATE in the schema broker"
            ),
            (
                "doctor_power_files",
                "GRANT pg_read_server_files, pg_write_server_files TO doctor_power_files",
                "it is a member of pg_read_server_files, pg_write_server_files"
            ),
            (
                "doctor_power_data",
                "GRANT pg_read_all_data, pg_write_all_data TO doctor_power_data",
                "it is a member of pg_read_all_data, pg_write_all_data; it may DELETE on api_token"
            ),
            (
                "doctor_power_column",
                "GRANT UPDATE (expires_at) ON broker.api_token TO doctor_power_column",
                "it may UPDATE on api_token"
            ),
            (
                "doctor_power_trigger",
                "GRANT TRIGGER ON broker.client TO doctor_power_trigger",
                "it may TRIGGER on client"
            ),
            (
                "doctor_power_call",
                """
                CREATE FUNCTION broker.doctor_let_in() RETURNS integer LANGUAGE sql SECURITY DEFINER AS 'SELECT 1';
                REVOKE EXECUTE ON FUNCTION broker.doctor_let_in() FROM PUBLIC;
                GRANT EXECUTE ON FUNCTION broker.doctor_let_in() TO doctor_power_call
                """, "it may call doctor_let_in"
            ),
            (
                "doctor_power_operator", "GRANT broker_operator TO doctor_power_operator",
                "it may call clear_limit, lift_override, override_limit"
            ),
            (
                "doctor_power_owner",
                """
                CREATE TABLE broker.doctor_power_table ();
                ALTER TABLE broker.doctor_power_table OWNER TO doctor_power_owner;
                REVOKE ALL ON broker.doctor_power_table FROM doctor_power_owner
                """, "it owns the schema broker, or something in it"
            ),
            (
                "doctor_power_maker",
                """
                CREATE ROLE doctor_power_makers CREATEROLE;
                GRANT doctor_power_makers TO doctor_power_maker
                """, "it has CREATEROLE"
            ),
        ]
        for (login, given, _) in powers {
            try await world.query(
                "CREATE ROLE \(login) LOGIN NOINHERIT IN ROLE broker_service; \(given)")
        }
        let report = try await world.doctor()
        for (login, _, detail) in powers {
            let found = report.findings.filter { $0["role"]?.string == login }
            #expect(found.compactMap { $0["code"]?.string } == ["role.too_strong"], "\(login)")
            #expect(found.first?["detail"]?.string?.contains(detail) == true, "\(found)")
        }
        // The group has no more than before, nor has a login that is in it alone.
        let others = report.findings.filter {
            ["broker_service", "doctor_service_login"].contains($0["role"]?.string)
        }
        #expect(others.compactMap { $0["code"]?.string } == ["role.restricted"])
    }
}
