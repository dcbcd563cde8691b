-- A pending key can be told when to take over, on this database's clock (`broker key activate --at`, docs/adr/0017).

ALTER TABLE broker.signing_key ADD COLUMN signs_at timestamptz;
-- One key a client is the next. It is also what every look for a due key reads, so looking costs nothing.
CREATE UNIQUE INDEX signing_key_one_next ON broker.signing_key (client_id)
    WHERE state = 'pending' AND signs_at IS NOT NULL;

-- Lets every key sign whose time has come, and gives the revision that holds from then on. Every replica calls it about
-- once a second; the first one to find a key due does it for all of them: no mint commits on an older revision, so they
-- change over with this commit, whatever their own clocks say.
CREATE FUNCTION broker.take_over_keys() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    moment timestamptz;
BEGIN
    IF EXISTS (SELECT FROM broker.signing_key WHERE state = 'pending' AND signs_at <= clock_timestamp()) THEN
        -- Whoever changes keys holds this row, so what is read below stays as it is.
        PERFORM FROM broker.declaration FOR UPDATE;
        moment := clock_timestamp();
        UPDATE broker.signing_key AS old SET state = 'retiring', changed_at = moment
        WHERE old.state = 'active' AND EXISTS (
            SELECT FROM broker.signing_key AS next
            WHERE next.client_id = old.client_id AND next.state = 'pending' AND next.signs_at <= moment);
        UPDATE broker.signing_key SET state = 'active', changed_at = moment, signs_at = NULL
        WHERE state = 'pending' AND signs_at <= moment;
        IF FOUND THEN
            PERFORM broker.bump_revision();
        END IF;
    END IF;
    RETURN (SELECT revision FROM broker.declaration WHERE only_row);
END
$$;
REVOKE EXECUTE ON FUNCTION broker.take_over_keys() FROM PUBLIC;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'broker_service') THEN
        GRANT EXECUTE ON FUNCTION broker.take_over_keys() TO broker_service;
    ELSE
        RAISE NOTICE 'role broker_service does not exist: run 0003_service_role.sql and this GRANT with psql later';
    END IF;
END
$$;
