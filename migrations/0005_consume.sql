-- Uses of client assertions: an identifier is burnt once (`POST /v1/assertions/consume`).

-- Used identifiers, in the same ring of 16 partitions of 120 s as assertion_jti: slot = expires_at / 120, and the
-- partition is slot % 16. A row stays until the assertion's exp and at least 90 s more: replicas judge exp on
-- their own clocks, and the batch statement refuses one that is more than 30 s off the database's.
-- hash: SHA-256 over client and jti, so that no client can burn another's, and nobody reads here whose it was.
CREATE TABLE broker.consumed_jti (
    slot integer NOT NULL,
    hash bytea NOT NULL CHECK (octet_length(hash) = 32)
) PARTITION BY LIST ((slot % 16));

DO $$
DECLARE
    place text;
BEGIN
    FOR i IN 0..15 LOOP
        place := to_char(i, 'FM00');
        EXECUTE format(
            'CREATE TABLE broker.consumed_jti_%1$s PARTITION OF broker.consumed_jti
                FOR VALUES IN (%2$s) WITH (autovacuum_vacuum_insert_threshold = -1)', place, i);
        EXECUTE format(
            'CREATE UNIQUE INDEX consumed_jti_%1$s_once ON broker.consumed_jti_%1$s (slot, hash)', place);
    END LOOP;

    -- consumed_beside(own, hash, oldest, newest): is the identifier burnt in one of these slots other than `own`?
    -- The unique index looks into `own` only, and an assertion signed again with the same jti and another exp may
    -- fall beside it. Each partition is read by name, as in proof_seen, to hold up no TRUNCATE.
    EXECUTE 'CREATE FUNCTION broker.consumed_beside(own integer, wanted bytea, oldest integer, newest integer)
        RETURNS boolean LANGUAGE plpgsql STABLE AS $body$
        DECLARE
            seen boolean;
        BEGIN
            FOR place IN oldest..newest LOOP
                CONTINUE WHEN place = own;
                CASE place % 16 '
        || (SELECT string_agg(format(
            'WHEN %s THEN seen := EXISTS
                (SELECT FROM broker.consumed_jti_%s AS c WHERE c.slot = place AND c.hash = wanted); ',
            i, to_char(i, 'FM00')), '' ORDER BY i) FROM generate_series(0, 15) AS i)
        || '    END CASE;
                IF seen THEN RETURN true; END IF;
            END LOOP;
            RETURN false;
        END $body$';
END
$$;

-- As in 0002_mint.sql, and now for the third ring too. A use expires at most 390 s after the database's now.
CREATE OR REPLACE FUNCTION broker.empty_expired_slots(
    keep_seconds integer DEFAULT 90, ahead_seconds integer DEFAULT 480)
RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '50ms' AS $$
DECLARE
    seconds bigint := extract(epoch FROM clock_timestamp())::bigint;
    oldest integer;
    place text;
    newest integer;
BEGIN
    IF keep_seconds < 90 OR ahead_seconds < 480 OR keep_seconds + ahead_seconds > 14 * 120 THEN
        RAISE EXCEPTION 'keep_seconds must be 90 or more, ahead_seconds 480 or more, both together at most 1680';
    END IF;
    -- One replica at a time. The lock goes with the transaction, so a pooler is no trouble.
    IF NOT pg_try_advisory_xact_lock(hashtextextended('broker.empty_expired_slots', 0)) THEN
        RETURN;
    END IF;
    oldest := ((seconds - keep_seconds) / 120)::integer;  -- the oldest slot that must stay
    FOR i IN 0..15 LOOP
        CONTINUE WHEN EXISTS (
            SELECT FROM generate_series(oldest, ((seconds + ahead_seconds) / 120)::integer) AS s
            WHERE s % 16 = i);
        FOREACH place IN ARRAY ARRAY['assertion_jti_', 'proof_jti_', 'consumed_jti_'] LOOP
            place := place || to_char(i, 'FM00');
            EXECUTE format('SELECT max(slot) FROM broker.%I', place) INTO newest;
            CONTINUE WHEN newest IS NULL OR newest >= oldest;
            BEGIN
                EXECUTE format('LOCK TABLE broker.%I IN ACCESS EXCLUSIVE MODE', place);
                -- Again, now that nobody can insert.
                EXECUTE format('SELECT max(slot) FROM broker.%I', place) INTO newest;
                IF newest < oldest THEN
                    EXECUTE format('TRUNCATE broker.%I', place);
                    RETURN NEXT place;
                END IF;
            EXCEPTION WHEN lock_not_available THEN
                NULL;  -- someone reads it (a backup, say); the next call comes within minutes
            END;
        END LOOP;
    END LOOP;
END
$$;

-- What `broker serve` may do with it: add, and look for one it was shown. Where broker_service is missing see
-- 0003_service_role.sql, and run this part once more afterwards. Grants can be repeated.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'broker_service') THEN
        RAISE NOTICE 'role broker_service does not exist: see 0003_service_role.sql';
        RETURN;
    END IF;
    GRANT INSERT, SELECT (slot, hash) ON broker.consumed_jti TO broker_service;
    FOR i IN 0..15 LOOP
        EXECUTE format('GRANT SELECT (slot, hash) ON broker.consumed_jti_%s TO broker_service',
            to_char(i, 'FM00'));
    END LOOP;
END
$$;
