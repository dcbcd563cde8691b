-- The database makes the secret of the DPoP nonces itself (0004_nonce_secrets.sql), so the service's role adds
-- none any more: whoever took it over could have added one that he knows.
--
-- Replicas of the version before 0004 need this grant only where there is no secret at all. After a repeated run of
-- 0003_service_role.sql, which grants it again, run this file again too.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'broker_service') THEN
        REVOKE INSERT ON broker.server_secret FROM broker_service;
    ELSE
        RAISE NOTICE 'role broker_service does not exist: run 0003_service_role.sql and this file with psql later';
    END IF;
END
$$;
