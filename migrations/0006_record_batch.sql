-- The batch of mints as a function: one call decides every limit and commits every jti. What is not needed is not
-- run: no proof, no shared limit near its end, nothing refused, and a batch costs two statements.
-- It is the only way in: from here on the service role reads and writes none of these tables itself.

-- Every visit of a page with dead versions prunes it, at a cost of the rows it holds: half a page of them, not four
-- fifths, is the better bargain for a row that changes with every mint.
ALTER TABLE broker.install_rate SET (fillfactor = 50);

-- Postgres reads a table's CHECK constraints anew for every statement that writes to it: an eighth of a small batch.
-- The broker checks each record before it is sent, and record_batch is the only way in.
ALTER TABLE broker.install_rate DROP CONSTRAINT install_rate_step_check, DROP CONSTRAINT install_rate_burst_check,
    DROP CONSTRAINT install_rate_granted_check, DROP CONSTRAINT install_rate_client_id_check,
    DROP CONSTRAINT install_rate_dpop_jkt_check, DROP CONSTRAINT install_rate_policy_check;
ALTER TABLE broker.assertion_jti DROP CONSTRAINT assertion_jti_jti_check, DROP CONSTRAINT assertion_jti_client_id_check,
    DROP CONSTRAINT assertion_jti_dpop_jkt_check, DROP CONSTRAINT assertion_jti_check;

-- One batch of mints, decided and committed: limits from the top down, proof jti, install limits, jti. A step only
-- spends for the records still in. All batches take their locks in one order: shared limits in the order given
-- (by name), proofs by hash, installs in the order given (by key).
--
-- Records stand in the order of their installs' keys (dpop_jkt, client_id, policy), those of one install together and
-- in order of arrival. For each record:
--   install_ranks   its place among the batch's records of its install, from 1
--   install_wants   on an install's first record: how many it has; 0 on the others
--   proofs, proof_iats   hash and time (s) of its DPoP proof, NULL for none; both empty when no record has one
--   client_places, tenant_places   the place of its client's and its tenant's limit below, from 1; 0: none, or the lane
--                   has permits enough on lease
--   arrivals        the records' places in order of arrival
-- For each shared limit of which the lane may hold too few permits:
--   shared_demands  how many records stand under it
--   leases, wishes  permits the lane holds, and would like to hold beyond what this batch needs
-- broker_now is the broker's clock (µs); expiries are seconds.
--
-- Gives one row:
--   verdicts   one a record: NULL recorded, 1/2/3 limited by install/client/tenant, 4 proof replayed, 5 stale
--              declaration, 6 clock skew, 8 decide again; NULL altogether when all are recorded
--   waits      one a record: microseconds until the limit of a limited one has a permit, however many limits hold it
--              up; the verdict then names the one it waits for longest; NULL altogether when none is limited
--   wants      install_wants less the records that were refused before; NULL when none was, all 0 when nothing was done
--   granted    one an install of which `wants` has any, in order: its permits
--   aheads     the same: microseconds until its limit is full
--   shared_spent, shared_leased   one a shared limit: permits spent by recorded ones, and those newly on lease
-- A jti that exists ends the batch with unique_violation: 128 random bits came twice, so none of them is trusted.
CREATE FUNCTION broker.record_batch(
    broker_now bigint, revisions bigint[], client_ids text[], dpop_jkts text[], jtis text[], expiries bigint[],
    proofs bytea[], proof_iats bigint[], policies text[], bursts integer[], steps bigint[],
    install_ranks integer[], install_wants integer[], client_places integer[], tenant_places integer[],
    arrivals integer[], scopes text[], subjects text[], shared_policies text[], shared_bursts integer[],
    shared_steps bigint[], shared_demands integer[], leases bigint[], wishes bigint[],
    OUT verdicts integer[], OUT waits bigint[], OUT wants integer[], OUT granted integer[], OUT aheads bigint[],
    OUT shared_spent bigint[], OUT shared_leased bigint[])
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan  -- a plan a batch costs more than the batch
SET jit = off AS $$
DECLARE
    now CONSTANT bigint := (extract(epoch FROM statement_timestamp()) * 1000000)::bigint;
    second CONSTANT bigint := now / 1000000;
    size CONSTANT integer := cardinality(jtis);
    declared bigint;
    -- One a shared limit: the row as it was found, and permits of lease and row not yet spoken for.
    shared_tats bigint[];
    shared_nows bigint[];
    unspoken bigint[];
    shared_permits bigint[];
    fresh bytea[];
    first integer;
    place integer;
    permit_count bigint;
    install_tat bigint;
    install_seen bigint;
    wait_install bigint;
    wait_client bigint;
    wait_tenant bigint;
BEGIN
    -- 1. What no limit decides. A batch with such a record does nothing, and the others come again.
    SELECT revision INTO STRICT declared FROM broker.declaration WHERE only_row;
    IF NOT (declared = ALL (revisions)
        AND abs(now - broker_now) <= 30000000
        AND second - 30 <= ALL (expiries) AND second + 340 >= ALL (expiries)
        AND (second - 330 <= ALL (proof_iats)) IS NOT FALSE
        AND (second + 100 >= ALL (proof_iats)) IS NOT FALSE)
    THEN
        verdicts := ARRAY(
            SELECT CASE
                WHEN revision <> declared THEN 5
                WHEN abs(now - broker_now) > 30000000
                    OR expires_at NOT BETWEEN second - 30 AND second + 340
                    OR iat NOT BETWEEN second - 330 AND second + 100 THEN 6
                ELSE 8 END
            FROM unnest(revisions, expiries, proof_iats) WITH ORDINALITY AS r (revision, expires_at, iat, ord)
            WHERE ord <= size
            ORDER BY ord);
        wants := array_fill(0, ARRAY[size]);
        RETURN;
    END IF;

    -- 2. Shared limits: their rows are locked, and made when they are first used.
    FOR q IN 1..cardinality(scopes) LOOP
        SELECT tat, seen_at INTO install_tat, install_seen FROM broker.shared_rate AS s
            WHERE s.scope = scopes[q] AND s.subject = subjects[q] AND s.policy = shared_policies[q] FOR UPDATE;
        IF NOT FOUND THEN
            INSERT INTO broker.shared_rate (scope, subject, policy, tat)
                VALUES (scopes[q], subjects[q], shared_policies[q], 0) ON CONFLICT DO NOTHING;
            SELECT tat, seen_at INTO STRICT install_tat, install_seen FROM broker.shared_rate AS s
                WHERE s.scope = scopes[q] AND s.subject = subjects[q] AND s.policy = shared_policies[q] FOR UPDATE;
        END IF;
        -- A batch that waited for the row began before the one it waited for: on a row time never runs back, otherwise
        -- the difference would cost a permit.
        shared_nows[q] := GREATEST(now, install_seen);
        shared_tats[q] := GREATEST(install_tat, shared_nows[q]);
        shared_permits[q] := broker.permits(shared_bursts[q], shared_steps[q], install_tat, shared_nows[q]);
        unspoken[q] := leases[q] + shared_permits[q];
        IF unspoken[q] < shared_demands[q] AND verdicts IS NULL THEN
            verdicts := array_fill(NULL::integer, ARRAY[size]);
        END IF;
    END LOOP;
    IF verdicts IS NOT NULL THEN
        FOREACH place IN ARRAY arrivals LOOP
            IF client_places[place] > 0 AND unspoken[client_places[place]] = 0 THEN
                verdicts[place] := 2;
            ELSIF tenant_places[place] > 0 AND unspoken[tenant_places[place]] = 0 THEN
                verdicts[place] := 3;
            ELSE
                IF client_places[place] > 0 THEN
                    unspoken[client_places[place]] := unspoken[client_places[place]] - 1;
                END IF;
                IF tenant_places[place] > 0 THEN
                    unspoken[tenant_places[place]] := unspoken[tenant_places[place]] - 1;
                END IF;
            END IF;
        END LOOP;
    END IF;

    -- 3. Proofs: of two alike in one batch the first to arrive counts. The unique index looks into a proof's own slot,
    -- and proof_seen into those beside it.
    IF cardinality(proofs) > 0 THEN
        WITH inserted AS (
            INSERT INTO broker.proof_jti (slot, hash)
            SELECT DISTINCT ON (r.proof) (r.iat + 300) / 120, r.proof
            FROM unnest(proofs, proof_iats, verdicts) AS r (proof, iat, verdict)
            WHERE r.proof IS NOT NULL AND r.verdict IS NULL
                AND NOT broker.proof_seen(((r.iat + 300) / 120 - 1)::integer, r.proof)
                AND NOT broker.proof_seen(((r.iat + 300) / 120 + 1)::integer, r.proof)
            ORDER BY r.proof
            ON CONFLICT DO NOTHING
            RETURNING hash)
        SELECT array_agg(hash) INTO fresh FROM inserted;
        IF COALESCE(cardinality(fresh), 0)
            < (SELECT count(*) FROM unnest(proofs, verdicts) AS r (proof, verdict)
                WHERE r.proof IS NOT NULL AND r.verdict IS NULL)
        THEN
            verdicts := COALESCE(verdicts, array_fill(NULL::integer, ARRAY[size]));
            FOREACH place IN ARRAY arrivals LOOP
                CONTINUE WHEN verdicts[place] IS NOT NULL OR proofs[place] IS NULL;
                IF proofs[place] = ANY (fresh) THEN
                    fresh := array_remove(fresh, proofs[place]);
                ELSE
                    verdicts[place] := 4;
                END IF;
            END LOOP;
        END IF;
    END IF;

    -- 4. Install limits, for what is left.
    IF verdicts IS NOT NULL THEN
        wants := array_fill(0, ARRAY[size]);
        FOR i IN 1..size LOOP
            IF install_wants[i] > 0 THEN
                first := i;
            END IF;
            IF verdicts[i] IS NULL THEN
                wants[first] := wants[first] + 1;
                install_ranks[i] := wants[first];
            END IF;
        END LOOP;
    END IF;
    install_wants := COALESCE(wants, install_wants);
    WITH decided AS (
        INSERT INTO broker.install_rate AS rate
            (client_id, dpop_jkt, policy, burst, step, granted, seen_at, tat)
        SELECT r.client_id, r.dpop_jkt, r.policy, r.burst, r.step, LEAST(r.wants, r.burst), now,
            now + LEAST(r.wants, r.burst) * r.step
        FROM unnest(client_ids, dpop_jkts, policies, bursts, steps, install_wants)
            AS r (client_id, dpop_jkt, policy, burst, step, wants)
        WHERE r.wants > 0
        ON CONFLICT (dpop_jkt, client_id, policy) DO UPDATE SET
            burst = excluded.burst, step = excluded.step,
            seen_at = GREATEST(rate.seen_at, excluded.seen_at),
            granted = LEAST(excluded.granted, broker.permits(excluded.burst, excluded.step, rate.tat,
                GREATEST(rate.seen_at, excluded.seen_at))),
            tat = GREATEST(rate.tat, rate.seen_at, excluded.seen_at)
                + excluded.step * LEAST(excluded.granted, broker.permits(excluded.burst, excluded.step,
                    rate.tat, GREATEST(rate.seen_at, excluded.seen_at)))
        RETURNING rate.granted, rate.tat - rate.seen_at AS ahead)
    SELECT COALESCE(array_agg(decided.granted), '{}'), COALESCE(array_agg(decided.ahead), '{}')
        INTO granted, aheads FROM decided;
    IF (SELECT sum(g) FROM unnest(granted) AS g) < (SELECT sum(w) FROM unnest(install_wants) AS w) THEN
        verdicts := COALESCE(verdicts, array_fill(NULL::integer, ARRAY[size]));
        place := 0;
        FOR i IN 1..size LOOP
            IF install_wants[i] > 0 THEN
                place := place + 1;
            END IF;
            IF verdicts[i] IS NULL AND install_ranks[i] > granted[place] THEN
                verdicts[i] := 1;
            END IF;
        END LOOP;
    END IF;

    -- 5. What nothing refused is recorded.
    INSERT INTO broker.assertion_jti (slot, jti, client_id, dpop_jkt, expires_at)
    SELECT r.expires_at / 120, r.jti, r.client_id, r.dpop_jkt, r.expires_at
    FROM unnest(expiries, jtis, client_ids, dpop_jkts, verdicts) AS r (expires_at, jti, client_id, dpop_jkt, verdict)
    WHERE r.verdict IS NULL;

    -- 6. Only what was recorded is spent of the shared limits: from the lease first, then from the row, the wish last.
    FOR q IN 1..cardinality(scopes) LOOP
        shared_spent[q] := CASE WHEN verdicts IS NULL THEN shared_demands[q] ELSE (
            SELECT count(*) FROM unnest(client_places, tenant_places, verdicts) AS r (client, tenant, verdict)
            WHERE r.verdict IS NULL AND q IN (r.client, r.tenant)) END;
        permit_count := GREATEST(shared_spent[q] - leases[q], 0);
        shared_leased[q] := LEAST(wishes[q], shared_permits[q] - permit_count);
        unspoken[q] := leases[q] + shared_permits[q] - shared_spent[q];
        permit_count := permit_count + shared_leased[q];
        IF permit_count > 0 THEN
            shared_tats[q] := shared_tats[q] + permit_count * shared_steps[q];
            UPDATE broker.shared_rate AS s SET tat = shared_tats[q], seen_at = shared_nows[q]
                WHERE s.scope = scopes[q] AND s.subject = subjects[q] AND s.policy = shared_policies[q];
        END IF;
    END LOOP;
    IF verdicts IS NULL THEN
        RETURN;
    END IF;

    -- 7. Whichever limit refused: whoever waits must then pass all three, so the longest wait counts.
    FOR i IN 1..size LOOP
        CONTINUE WHEN verdicts[i] IS NULL OR verdicts[i] NOT IN (1, 2, 3);
        IF verdicts[i] = 2 AND unspoken[client_places[i]] > 0
            OR verdicts[i] = 3 AND unspoken[tenant_places[i]] > 0
        THEN
            -- Whom it was taken for was refused in turn.
            verdicts[i] := 8;
            CONTINUE;
        END IF;
        wait_client := CASE WHEN client_places[i] = 0 THEN 0 ELSE broker.permit_wait(
            shared_bursts[client_places[i]], shared_steps[client_places[i]],
            shared_tats[client_places[i]], shared_nows[client_places[i]]) END;
        wait_tenant := CASE WHEN tenant_places[i] = 0 THEN 0 ELSE broker.permit_wait(
            shared_bursts[tenant_places[i]], shared_steps[tenant_places[i]],
            shared_tats[tenant_places[i]], shared_nows[tenant_places[i]]) END;
        SELECT broker.permit_wait(bursts[i], steps[i], r.tat, GREATEST(now, r.seen_at)) INTO wait_install
            FROM broker.install_rate AS r
            WHERE r.dpop_jkt = dpop_jkts[i] AND r.client_id = client_ids[i] AND r.policy = policies[i];
        wait_install := COALESCE(wait_install, 0);
        waits := COALESCE(waits, array_fill(0::bigint, ARRAY[size]));
        waits[i] := GREATEST(wait_install, wait_client, wait_tenant);
        verdicts[i] := CASE waits[i]
            WHEN 0 THEN verdicts[i]
            WHEN wait_tenant THEN 3
            WHEN wait_client THEN 2
            ELSE 1 END;
    END LOOP;
END
$$;

-- Who may call it, and that nobody but it touches these tables (see 0003_service_role.sql).
REVOKE EXECUTE ON FUNCTION broker.record_batch FROM PUBLIC;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'broker_service') THEN
        REVOKE ALL ON broker.install_rate, broker.shared_rate, broker.assertion_jti, broker.proof_jti FROM broker_service;
        REVOKE SELECT (slot, jti) ON broker.assertion_jti FROM broker_service;
        REVOKE SELECT (slot, hash) ON broker.proof_jti FROM broker_service;
        FOR i IN 0..15 LOOP
            EXECUTE format('REVOKE SELECT (slot, hash) ON broker.proof_jti_%s FROM broker_service', to_char(i, 'FM00'));
        END LOOP;
        REVOKE EXECUTE ON FUNCTION broker.proof_seen(integer, bytea) FROM PUBLIC;
        GRANT EXECUTE ON FUNCTION broker.record_batch TO broker_service;
    END IF;
END
$$;
