-- Shadow limits: decided and told, never refusing (docs/adr/0014).

-- A batch of mints with shadows: what broker.record_batch does, and then, for each mint that was recorded, whether each
-- of its shadows would have let it in. A shadow that would have spends one permit of its own; nothing else is touched.
-- Batches without shadows call record_batch itself and pay nothing for this.
--
-- All batches take the locks of shadows last and in one order: shared ones in the order given (by name), those of installs
-- in the order given (by key).
--
-- For each record, in the order of record_batch:
--   shadow_policies, shadow_bursts, shadow_steps    the shadow on its install; policy '' for none
--   shadow_client_places, shadow_tenant_places      the place of its client's and its tenant's shadow below, from 1; 0: none,
--                   or the lane has permits enough on lease
-- For each shared shadow of which the lane may hold too few permits, as for the limits themselves:
--   shadow_scopes, shadow_subjects, shadow_shared_policies, shadow_shared_bursts, shadow_shared_steps,
--   shadow_leases, shadow_wishes
--
-- Gives the row of record_batch and besides:
--   shadow_waits, shadow_client_waits, shadow_tenant_waits    one a record: microseconds until the shadow on its install,
--                   client, tenant would have had a permit; 0 where it had one, or nothing was recorded
--   shadow_spent, shadow_leased    one a shared shadow: permits spent, and those newly on lease
CREATE FUNCTION broker.record_shadowed_batch(
    broker_now bigint, revisions bigint[], client_ids text[], dpop_jkts text[], jtis text[], expiries bigint[],
    proofs bytea[], proof_iats bigint[], policies text[], bursts integer[], steps bigint[],
    install_ranks integer[], install_wants integer[], client_places integer[], tenant_places integer[],
    arrivals integer[], scopes text[], subjects text[], shared_policies text[], shared_bursts integer[],
    shared_steps bigint[], shared_demands integer[], leases bigint[], wishes bigint[],
    shadow_policies text[], shadow_bursts integer[], shadow_steps bigint[],
    shadow_client_places integer[], shadow_tenant_places integer[],
    shadow_scopes text[], shadow_subjects text[], shadow_shared_policies text[], shadow_shared_bursts integer[],
    shadow_shared_steps bigint[], shadow_leases bigint[], shadow_wishes bigint[],
    OUT verdicts integer[], OUT waits bigint[], OUT wants integer[], OUT granted integer[], OUT aheads bigint[],
    OUT shared_spent bigint[], OUT shared_leased bigint[],
    OUT shadow_waits bigint[], OUT shadow_client_waits bigint[], OUT shadow_tenant_waits bigint[],
    OUT shadow_spent bigint[], OUT shadow_leased bigint[])
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET jit = off AS $$
DECLARE
    now CONSTANT bigint := (extract(epoch FROM statement_timestamp()) * 1000000)::bigint;
    size CONSTANT integer := cardinality(jtis);
    -- One a shared shadow: the row as it was found, its permits, and how long it would have made others wait.
    tats bigint[];
    nows bigint[];
    permit_counts bigint[];
    shared_waits bigint[];
    client_place integer;
    tenant_place integer;
    place integer;
    found_tat bigint;
    found_seen bigint;
    taken bigint;
BEGIN
    SELECT b.verdicts, b.waits, b.wants, b.granted, b.aheads, b.shared_spent, b.shared_leased
        INTO verdicts, waits, wants, granted, aheads, shared_spent, shared_leased
        FROM broker.record_batch(
            broker_now, revisions, client_ids, dpop_jkts, jtis, expiries, proofs, proof_iats, policies, bursts,
            steps, install_ranks, install_wants, client_places, tenant_places, arrivals, scopes, subjects,
            shared_policies, shared_bursts, shared_steps, shared_demands, leases, wishes) AS b;
    shadow_waits := array_fill(0::bigint, ARRAY[size]);
    shadow_client_waits := shadow_waits;
    shadow_tenant_waits := shadow_waits;
    shadow_spent := array_fill(0::bigint, ARRAY[cardinality(shadow_scopes)]);
    shadow_leased := shadow_spent;
    shared_waits := shadow_spent;

    -- Shared shadows: -1 marks who would have been refused, until the wait is known.
    FOR q IN 1..cardinality(shadow_scopes) LOOP
        SELECT tat, seen_at INTO found_tat, found_seen FROM broker.shared_rate AS s
            WHERE s.scope = shadow_scopes[q] AND s.subject = shadow_subjects[q]
                AND s.policy = shadow_shared_policies[q] FOR UPDATE;
        IF NOT FOUND THEN
            INSERT INTO broker.shared_rate (scope, subject, policy, tat)
                VALUES (shadow_scopes[q], shadow_subjects[q], shadow_shared_policies[q], 0)
                ON CONFLICT DO NOTHING;
            SELECT tat, seen_at INTO STRICT found_tat, found_seen FROM broker.shared_rate AS s
                WHERE s.scope = shadow_scopes[q] AND s.subject = shadow_subjects[q]
                    AND s.policy = shadow_shared_policies[q] FOR UPDATE;
        END IF;
        nows[q] := GREATEST(now, found_seen);
        tats[q] := GREATEST(found_tat, nows[q]);
        permit_counts[q] := broker.permits(
            shadow_shared_bursts[q], shadow_shared_steps[q], found_tat, nows[q]);
    END LOOP;
    FOREACH place IN ARRAY arrivals LOOP
        CONTINUE WHEN verdicts[place] IS NOT NULL;
        client_place := shadow_client_places[place];
        IF client_place > 0 THEN
            IF shadow_spent[client_place] < shadow_leases[client_place] + permit_counts[client_place] THEN
                shadow_spent[client_place] := shadow_spent[client_place] + 1;
            ELSE
                shadow_client_waits[place] := -1;
            END IF;
        END IF;
        tenant_place := shadow_tenant_places[place];
        IF tenant_place > 0 THEN
            IF shadow_spent[tenant_place] < shadow_leases[tenant_place] + permit_counts[tenant_place] THEN
                shadow_spent[tenant_place] := shadow_spent[tenant_place] + 1;
            ELSE
                shadow_tenant_waits[place] := -1;
            END IF;
        END IF;
    END LOOP;
    FOR q IN 1..cardinality(shadow_scopes) LOOP
        taken := GREATEST(shadow_spent[q] - shadow_leases[q], 0);
        shadow_leased[q] := LEAST(shadow_wishes[q], permit_counts[q] - taken);
        taken := taken + shadow_leased[q];
        tats[q] := tats[q] + taken * shadow_shared_steps[q];
        IF taken > 0 THEN
            UPDATE broker.shared_rate AS s SET tat = tats[q], seen_at = nows[q]
                WHERE s.scope = shadow_scopes[q] AND s.subject = shadow_subjects[q]
                    AND s.policy = shadow_shared_policies[q];
        END IF;
        shared_waits[q] := broker.permit_wait(
            shadow_shared_bursts[q], shadow_shared_steps[q], tats[q], nows[q]);
    END LOOP;
    FOR i IN 1..size LOOP
        IF shadow_client_waits[i] < 0 THEN
            shadow_client_waits[i] := shared_waits[shadow_client_places[i]];
        END IF;
        IF shadow_tenant_waits[i] < 0 THEN
            shadow_tenant_waits[i] := shared_waits[shadow_tenant_places[i]];
        END IF;
    END LOOP;

    -- Shadows of installs, one after the other: records of one install stand in order of arrival.
    FOR i IN 1..size LOOP
        CONTINUE WHEN verdicts[i] IS NOT NULL OR shadow_policies[i] = '';
        INSERT INTO broker.install_rate AS rate
            (client_id, dpop_jkt, policy, burst, step, granted, seen_at, tat)
        VALUES (client_ids[i], dpop_jkts[i], shadow_policies[i], shadow_bursts[i], shadow_steps[i], 1, now,
            now + shadow_steps[i])
        ON CONFLICT (dpop_jkt, client_id, policy) DO UPDATE SET
            burst = excluded.burst, step = excluded.step,
            seen_at = GREATEST(rate.seen_at, excluded.seen_at),
            granted = LEAST(1, broker.permits(excluded.burst, excluded.step, rate.tat,
                GREATEST(rate.seen_at, excluded.seen_at))),
            tat = GREATEST(rate.tat, rate.seen_at, excluded.seen_at)
                + excluded.step * LEAST(1, broker.permits(excluded.burst, excluded.step, rate.tat,
                    GREATEST(rate.seen_at, excluded.seen_at)))
        RETURNING CASE WHEN rate.granted > 0 THEN 0 ELSE
            broker.permit_wait(rate.burst, rate.step, rate.tat, rate.seen_at) END INTO taken;
        shadow_waits[i] := taken;
    END LOOP;
END
$$;

REVOKE EXECUTE ON FUNCTION broker.record_shadowed_batch FROM PUBLIC;
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'broker_service') THEN
        GRANT EXECUTE ON FUNCTION broker.record_shadowed_batch TO broker_service;
    ELSE
        RAISE NOTICE 'role broker_service does not exist: see 0003_service_role.sql';
    END IF;
END
$$;
