-- What every mint reads and writes: rate limits, used assertion jti, used proof jti.
-- Times are integers on the database's clock: microseconds since 1970 for limits, seconds for jti.

-- GCRA. `tat`, the theoretical arrival time, is when the bucket is full again; a permit moves it by
-- `step`; at most `burst` permits fit between now and it. RateLimit.swift has the same arithmetic,
-- and one table of cases runs through both.
CREATE FUNCTION broker.permits(burst bigint, step bigint, tat bigint, now bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT GREATEST(0, (burst * step - GREATEST(tat - now, 0)) / step)
$$;
CREATE FUNCTION broker.permit_wait(burst bigint, step bigint, tat bigint, now bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT GREATEST(0, tat - now - (burst - 1) * step)
$$;

-- One row an install and policy. `granted` is what the last batch was given (a statement cannot
-- return the row as it was before); burst and step are those it was decided by.
-- fillfactor: tat changes with every mint and no index holds it, so with room on the page the new
-- version stays there (HOT) and the index does not grow.
-- No index on tat for that same reason: idle rows are found by walking the pages (forget_idle_rates).
-- autovacuum: dead versions are pruned by the next visit of a page; what is left comes from
-- forget_idle_rates, in bulk, so a small share of dead rows is worth a vacuum, without delay.
CREATE TABLE broker.install_rate (
    tat bigint NOT NULL,
    seen_at bigint NOT NULL DEFAULT 0,  -- the latest time it was decided at; it never runs back
    step bigint NOT NULL CHECK (step BETWEEN 1 AND 86400000000),
    burst integer NOT NULL CHECK (burst BETWEEN 1 AND 1000000),
    granted integer NOT NULL CHECK (granted >= 0),
    client_id text COLLATE "C" NOT NULL CHECK (octet_length(client_id) BETWEEN 1 AND 256),
    dpop_jkt text COLLATE "C" NOT NULL CHECK (octet_length(dpop_jkt) = 43),
    policy text COLLATE "C" NOT NULL CHECK (octet_length(policy) BETWEEN 1 AND 64),
    -- The only look-up there is: the batch's upsert. The thumbprint first: it tells rows apart at once.
    PRIMARY KEY (dpop_jkt, client_id, policy)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.2);

-- One row a client or tenant and policy: few rows, each changed many times a second.
-- fillfactor 10: hardly two rows a page, and room for many dead versions before it must be pruned.
CREATE TABLE broker.shared_rate (
    tat bigint NOT NULL,
    seen_at bigint NOT NULL DEFAULT 0,  -- the latest time it was decided at; it never runs back
    scope text COLLATE "C" NOT NULL CHECK (scope IN ('client', 'tenant')),
    subject text COLLATE "C" NOT NULL CHECK (octet_length(subject) BETWEEN 1 AND 256),
    policy text COLLATE "C" NOT NULL CHECK (octet_length(policy) BETWEEN 1 AND 64),
    PRIMARY KEY (scope, subject, policy)  -- the batch's look-up
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0);

-- Used jti, in a ring of 16 partitions of 120 s. slot = expires_at / 120, and the partition is slot % 16,
-- so partitions are used again after 32 minutes and none is ever created beside the mints.
-- The whole slot is in the unique key: a partition that was emptied late may hold two of them.
-- Rows are only inserted and leave by TRUNCATE: nothing to vacuum, so autovacuum only freezes.
CREATE TABLE broker.assertion_jti (
    expires_at bigint NOT NULL,                       -- seconds since 1970, the broker's clock
    slot integer NOT NULL,
    jti text COLLATE "C" NOT NULL CHECK (octet_length(jti) = 22),
    client_id text COLLATE "C" NOT NULL CHECK (octet_length(client_id) BETWEEN 1 AND 256),
    dpop_jkt text COLLATE "C" NOT NULL CHECK (octet_length(dpop_jkt) = 43),
    CHECK (slot = expires_at / 120)
) PARTITION BY LIST ((slot % 16));

-- Used DPoP proofs. slot = (iat + 300) / 120: the last moment any proof of that iat may still be
-- accepted, so one rule empties both rings.
-- hash: SHA-256 over the proof key's thumbprint, htu and jti.
CREATE TABLE broker.proof_jti (
    slot integer NOT NULL,
    hash bytea NOT NULL CHECK (octet_length(hash) = 32)
) PARTITION BY LIST ((slot % 16));

-- The unique indexes are made on each partition: a partitioned table cannot have one over an
-- expression's partitions. The batch's ON CONFLICT DO NOTHING names no index and so heeds them all.
DO $$
DECLARE
    place text;
BEGIN
    FOR i IN 0..15 LOOP
        place := to_char(i, 'FM00');
        EXECUTE format(
            'CREATE TABLE broker.assertion_jti_%1$s PARTITION OF broker.assertion_jti
                FOR VALUES IN (%2$s) WITH (autovacuum_vacuum_insert_threshold = -1)', place, i);
        EXECUTE format(
            'CREATE UNIQUE INDEX assertion_jti_%1$s_once ON broker.assertion_jti_%1$s (slot, jti)', place);
        EXECUTE format(
            'CREATE TABLE broker.proof_jti_%1$s PARTITION OF broker.proof_jti
                FOR VALUES IN (%2$s) WITH (autovacuum_vacuum_insert_threshold = -1)', place, i);
        EXECUTE format(
            'CREATE UNIQUE INDEX proof_jti_%1$s_once ON broker.proof_jti_%1$s (slot, hash)', place);
    END LOOP;

    -- proof_seen(slot, hash): is the proof's jti in this one slot? It reads a single partition by name,
    -- because a SELECT on the parent would lock all sixteen and so hold up the TRUNCATE of an old one.
    -- The batch asks it for the two neighbours of a proof's slot, where the unique index cannot look.
    EXECUTE 'CREATE FUNCTION broker.proof_seen(wanted integer, proof bytea) RETURNS boolean
        LANGUAGE plpgsql STABLE AS $body$ BEGIN CASE wanted % 16 '
        || (SELECT string_agg(format(
            'WHEN %s THEN RETURN EXISTS
                (SELECT FROM broker.proof_jti_%s AS p WHERE p.slot = wanted AND p.hash = proof); ',
            i, to_char(i, 'FM00')), '' ORDER BY i) FROM generate_series(0, 15) AS i)
        || ' END CASE; END $body$';
END
$$;

-- Empties every partition all of whose slots ended more than `keep_seconds` ago (the largest skew a
-- verifier may allow and what the clocks of broker and database may differ: 60 + 30 s), by TRUNCATE.
-- Gives the names of those it emptied. It never holds up a mint: partitions a mint could use now, or
-- within `ahead_seconds`, are not touched, and a lock that is not free at once is left for next time.
CREATE FUNCTION broker.empty_expired_slots(keep_seconds integer DEFAULT 90, ahead_seconds integer DEFAULT 480)
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
        FOREACH place IN ARRAY ARRAY['assertion_jti_', 'proof_jti_'] LOOP
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

-- Forgets limits that have been full again for `idle_seconds` (a missing row means a full bucket), in
-- `blocks` pages from `first_block` on. Rows someone holds are skipped, so it waits for nobody.
-- Gives how many went and how many pages the table has.
CREATE FUNCTION broker.forget_idle_rates(
    first_block bigint, blocks bigint, idle_seconds integer DEFAULT 60,
    OUT forgotten bigint, OUT table_blocks bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    cutoff bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
        - idle_seconds * 1000000::bigint;
BEGIN
    IF first_block < 0 OR blocks < 1 OR idle_seconds < 60 THEN
        RAISE EXCEPTION 'first_block must be 0 or more, blocks 1 or more, idle_seconds 60 or more';
    END IF;
    DELETE FROM broker.install_rate WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM broker.install_rate
        WHERE ctid >= format('(%s,0)', first_block)::tid
            AND ctid < format('(%s,0)', LEAST(first_block + blocks, 4294967295))::tid
            AND tat < cutoff
        FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    table_blocks := pg_relation_size('broker.install_rate')
        / current_setting('block_size')::bigint;
END
$$;
