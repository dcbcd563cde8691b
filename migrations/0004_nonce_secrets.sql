-- The secret behind the DPoP nonces, shared by all replicas, is made by the database itself and rotated:
-- whoever learned one can make nonces for a day and no longer.

-- Makes a new secret once the newest is `after_seconds` old, or when there is none at all, and lets go of those
-- that nothing is checked with any more. True when it made one. Every replica may call it as often as it likes.
--
-- A new secret checks nonces at once and makes them 60 seconds later: by then every replica has loaded it, since
-- the new revision is seen within about a second and no mint commits on an older one. The secret before it is
-- asked for 180 seconds more (a nonce lives for two slots of 60 seconds, the clocks of two replicas may be one
-- slot apart), so after 10 minutes it can go. DPoPNonces.swift has the same times.
--
-- The value has 366 random bits from the server's strong generator (three UUIDs of version 4), so that no caller
-- can choose it.
CREATE FUNCTION broker.rotate_nonce_secret(after_seconds integer DEFAULT 86400) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    newest timestamptz;
BEGIN
    IF after_seconds < 900 THEN
        RAISE EXCEPTION 'after_seconds must be 900 or more, or secrets would go while nonces of theirs are alive';
    END IF;
    -- One replica at a time; those who waited see what the first one did.
    PERFORM pg_advisory_xact_lock(hashtextextended('broker.rotate_nonce_secret', 0));
    -- The service's role may add a row of any date: one from the future would put rotation off.
    DELETE FROM broker.server_secret
    WHERE name = 'dpop-nonce' AND created_at > clock_timestamp() + interval '60 seconds';
    DELETE FROM broker.server_secret AS old
    WHERE name = 'dpop-nonce' AND EXISTS (
        SELECT FROM broker.server_secret AS newer
        WHERE newer.name = old.name AND newer.created_at > old.created_at
            AND newer.created_at < clock_timestamp() - interval '10 minutes');
    SELECT max(created_at) INTO newest FROM broker.server_secret WHERE name = 'dpop-nonce';
    IF newest > clock_timestamp() - make_interval(secs => after_seconds) THEN
        RETURN false;
    END IF;
    INSERT INTO broker.server_secret (name, created_at, value)
    VALUES ('dpop-nonce',
        -- The first one has nobody to wait for.
        CASE WHEN newest IS NULL THEN clock_timestamp() - interval '60 seconds' ELSE clock_timestamp() END,
        sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));
    PERFORM broker.bump_revision();
    RETURN true;
END
$$;
REVOKE EXECUTE ON FUNCTION broker.rotate_nonce_secret(integer) FROM PUBLIC;

-- INSERT on broker.server_secret stays for replicas of the version before, which make the first secret themselves.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'broker_service') THEN
        GRANT EXECUTE ON FUNCTION broker.rotate_nonce_secret(integer) TO broker_service;
    ELSE
        RAISE NOTICE 'role broker_service does not exist: run 0003_service_role.sql and this GRANT with psql later';
    END IF;
END
$$;
