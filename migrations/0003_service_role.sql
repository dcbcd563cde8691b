-- What `broker serve` may do: read the declaration, decide limits, add jti. It cannot change the
-- declaration, nor delete or alter a jti, nor read whose they were.
-- Give it to the login role of the service: GRANT broker_service TO my_login;
--
-- A migrating role that may not create roles gets a notice; then an administrator runs
-- CREATE ROLE broker_service NOLOGIN; and this file once more with psql. Grants can be repeated.

REVOKE ALL ON SCHEMA broker FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION broker.empty_expired_slots(integer, integer) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION broker.forget_idle_rates(bigint, bigint, integer) FROM PUBLIC;

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'broker_service') THEN
        BEGIN
            CREATE ROLE broker_service NOLOGIN;
        EXCEPTION
            WHEN insufficient_privilege THEN
                RAISE NOTICE 'role broker_service does not exist and % may not create it: see 0003_service_role.sql',
                    current_user;
                RETURN;
            WHEN duplicate_object OR unique_violation THEN
                NULL;  -- another database of this cluster is being migrated at this moment
        END;
    END IF;

    GRANT USAGE ON SCHEMA broker TO broker_service;
    GRANT SELECT ON broker.schema_migration, broker.declaration, broker.tenant, broker.client,
        broker.signing_key, broker.api_token, broker.blocked_install TO broker_service;
    GRANT SELECT, INSERT ON broker.server_secret TO broker_service;
    GRANT SELECT, INSERT, UPDATE ON broker.install_rate, broker.shared_rate TO broker_service;

    -- SELECT on the key alone: it is what INSERT … RETURNING and the replay check need.
    GRANT INSERT, SELECT (slot, jti) ON broker.assertion_jti TO broker_service;
    GRANT INSERT, SELECT (slot, hash) ON broker.proof_jti TO broker_service;
    FOR i IN 0..15 LOOP
        EXECUTE format('GRANT SELECT (slot, hash) ON broker.proof_jti_%s TO broker_service',
            to_char(i, 'FM00'));
    END LOOP;

    GRANT EXECUTE ON FUNCTION broker.empty_expired_slots(integer, integer) TO broker_service;
    GRANT EXECUTE ON FUNCTION broker.forget_idle_rates(bigint, bigint, integer) TO broker_service;
END
$$;
