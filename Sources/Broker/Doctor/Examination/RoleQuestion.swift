/// What the service's logins may do, asked of Postgres 15 and later.
enum RoleQuestion {
    /// `broker_service`, its members, theirs, and with $1 whoever asks.
    ///
    /// Each is judged by every role that it can become: `SET ROLE` works without INHERIT too. From Postgres 16 on a membership
    /// may exclude SET, and whoever has the admin option can take it; MEMBER says yes to all of them, so that none is missed.
    /// What the service needs is left out: it adds to `consumed_jti` itself, and reaches everything else through functions
    /// (the GRANTs of migrations/; the helpers that those leave to everybody, in the last line, only read or reckon).
    static let sql = """
        WITH RECURSIVE service AS (
            SELECT oid FROM pg_roles WHERE rolname = 'broker_service'
            UNION
            SELECT m.member FROM pg_auth_members m JOIN service s ON m.roleid = s.oid
        )
        SELECT r.rolname AS name, r.rolcanlogin AS login, r.rolsuper AS superuser,
            $1::boolean AND r.rolname = current_user AS configured,
            r.oid IN (SELECT oid FROM service) AS service,
            array_to_string(ARRAY(
                SELECT x.rolname::text FROM pg_roles x
                WHERE x.rolsuper AND x.oid <> r.oid AND x.oid = ANY (can_be.oids) ORDER BY 1
            ), chr(10)) AS superusers,
            ARRAY(
                -- The prefix is reserved: nobody else's role has it.
                SELECT x.rolname::text FROM pg_roles x
                WHERE starts_with(x.rolname::text, 'pg_') AND x.oid = ANY (can_be.oids) ORDER BY 1
            )::text AS server_roles,
            EXISTS (
                SELECT FROM pg_namespace n WHERE n.nspname = 'broker' AND n.nspowner = ANY (can_be.oids)
                UNION ALL
                SELECT FROM pg_class c
                WHERE c.relnamespace = 'broker'::regnamespace AND c.relowner = ANY (can_be.oids)
                UNION ALL
                SELECT FROM pg_proc p
                WHERE p.pronamespace = 'broker'::regnamespace AND p.proowner = ANY (can_be.oids)
            ) AS owns,
            EXISTS (
                SELECT FROM unnest(can_be.oids) AS x (oid)
                WHERE has_schema_privilege(x.oid, 'broker', 'CREATE')
            ) AS creates,
            ARRAY(
                SELECT DISTINCT a.name FROM pg_roles x
                CROSS JOIN LATERAL (VALUES
                    ('CREATEROLE', x.rolcreaterole), ('CREATEDB', x.rolcreatedb),
                    ('BYPASSRLS', x.rolbypassrls), ('REPLICATION', x.rolreplication)
                ) AS a (name, given)
                WHERE a.given AND x.oid = ANY (can_be.oids) ORDER BY 1
            )::text AS attributes,
            ARRAY(
                SELECT DISTINCT p.name || '/' || t.name FROM pg_class c
                CROSS JOIN regexp_replace(c.relname, '_[0-9]{2}$', '') AS t (name)
                CROSS JOIN (VALUES ('INSERT'), ('UPDATE'), ('DELETE'), ('TRUNCATE'), ('TRIGGER')) AS p (name)
                CROSS JOIN unnest(can_be.oids) AS x (oid)
                WHERE c.relnamespace = 'broker'::regnamespace AND c.relkind IN ('r', 'p')
                    AND CASE WHEN p.name IN ('INSERT', 'UPDATE')
                        THEN has_any_column_privilege(x.oid, c.oid, p.name)
                        ELSE has_table_privilege(x.oid, c.oid, p.name) END
                    AND NOT (p.name = 'INSERT' AND t.name = 'consumed_jti')
                ORDER BY 1
            )::text AS writes,
            ARRAY(
                SELECT DISTINCT p.proname::text FROM pg_proc p
                CROSS JOIN unnest(can_be.oids) AS x (oid)
                WHERE p.pronamespace = 'broker'::regnamespace
                    AND has_function_privilege(x.oid, p.oid, 'EXECUTE')
                    AND p.proname NOT IN (
                        'empty_expired_slots', 'forget_idle_rates', 'forget_ended_limits', 'record_batch',
                        'record_shadowed_batch', 'rotate_nonce_secret', 'take_over_keys',
                        'consumed_beside', 'proof_seen', 'permits', 'permit_wait')
                ORDER BY 1
            )::text AS calls
        FROM pg_roles r
        CROSS JOIN LATERAL (
            SELECT ARRAY(
                SELECT x.oid FROM pg_roles x
                -- A superuser is a member of everything.
                WHERE x.oid = r.oid OR NOT r.rolsuper AND pg_has_role(r.oid, x.oid, 'MEMBER')
            ) AS oids
        ) AS can_be
        WHERE r.oid IN (SELECT oid FROM service) OR ($1::boolean AND r.rolname = current_user)
        ORDER BY r.rolname
        """
}
