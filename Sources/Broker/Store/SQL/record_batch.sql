-- One batch of mints, decided and committed: limits from the top down, proof jti, install limits, jti.
-- Each step keeps the requests in one stream and marks why a request is out (`refusal`); a step only
-- spends for those still in. Verdicts: 0 recorded, 1/2/3 limited by install/client/tenant,
-- 4 proof replayed, 5 stale declaration, 6 clock skew, 7 jti taken, 8 decide again.
--
-- One lock order for all batches: shared limits by name, proofs by hash, installs by key. Every step
-- reads what the one before returned, so that is also the order they run in.
--
-- $1 the broker's clock (µs), $2 how many records; then arrays, one element a record:
-- $3 revision, $4 client_id, $5 dpop_jkt, $6 jti, $7 expires_at (s), $8 proof hash or NULL,
-- $9 proof iat (s), $10 policy, $11 burst, $12 step (µs), $13 $14 place of the client's and the
-- tenant's limit in the arrays below, 0 for none; then one element a shared limit of this batch:
-- $15 scope, $16 subject, $17 policy, $18 burst, $19 step, $20 permits the lane holds on lease,
-- $21 further permits it would like to hold, $22 whether the lease may not be enough.
WITH request AS MATERIALIZED (
    SELECT r.*, clock.now, (r.proof_iat + 300) / 120 AS proof_slot,
        CASE
            WHEN r.revision <> (SELECT revision FROM broker.declaration WHERE only_row) THEN 5
            WHEN abs(clock.now - $1::bigint) > 30000000
                OR r.expires_at NOT BETWEEN clock.now / 1000000 - 30 AND clock.now / 1000000 + 340
                OR r.proof IS NOT NULL AND r.proof_iat
                    NOT BETWEEN clock.now / 1000000 - 330 AND clock.now / 1000000 + 100 THEN 6
        END AS refusal
    FROM ROWS FROM (
            -- Behind a subquery the planner cannot see a parameter. It expects 1000 rows here, for this
            -- call as for any: so it joins by hash or by merge, and keeps one plan instead of making
            -- one a batch.
            generate_series(1, (SELECT $2::integer)),
            unnest($3::bigint[]), unnest($4::text[]), unnest($5::text[]), unnest($6::text[]),
            unnest($7::bigint[]), unnest($8::bytea[]), unnest($9::bigint[]), unnest($10::text[]),
            unnest($11::integer[]), unnest($12::bigint[]), unnest($13::integer[]), unnest($14::integer[])
        ) AS r (ord, revision, client_id, dpop_jkt, jti, expires_at, proof, proof_iat, policy, burst,
            step, client_limit, tenant_limit),
        (SELECT (extract(epoch FROM statement_timestamp()) * 1000000)::bigint AS now) AS clock
), quota AS MATERIALIZED (
    SELECT * FROM unnest(
            (SELECT $15::text[]), (SELECT $16::text[]), (SELECT $17::text[]),
            (SELECT $18::integer[]), (SELECT $19::bigint[]), (SELECT $20::bigint[]),
            (SELECT $21::bigint[]), (SELECT $22::boolean[]))
        WITH ORDINALITY AS q (scope, subject, policy, burst, step, lease, wish, short, place)
    WHERE EXISTS (SELECT FROM request WHERE refusal IS NULL)
), missing AS (
    -- First use of a shared limit: make its row, full, and decide these requests again.
    INSERT INTO broker.shared_rate (scope, subject, policy, tat)
    SELECT scope, subject, policy, 0 FROM quota
    WHERE short AND NOT EXISTS (
        SELECT FROM broker.shared_rate AS s
        WHERE (s.scope, s.subject, s.policy) = (quota.scope, quota.subject, quota.policy))
    ORDER BY scope COLLATE "C", subject COLLATE "C", policy COLLATE "C"
    ON CONFLICT DO NOTHING
), locked AS MATERIALIZED (
    SELECT quota.place, s.tat, s.seen_at
    FROM quota JOIN broker.shared_rate AS s
        ON (s.scope, s.subject, s.policy) = (quota.scope, quota.subject, quota.policy)
    WHERE quota.short
    ORDER BY s.scope, s.subject, s.policy
    FOR UPDATE OF s
), allowance AS MATERIALIZED (
    SELECT quota.*, locked.tat, short AND locked.tat IS NULL AS is_missing,
        CASE WHEN locked.tat IS NULL THEN 0
            ELSE broker.permits(burst, step, locked.tat, GREATEST(clock.now, locked.seen_at)) END AS permits,
        GREATEST(clock.now, locked.seen_at) AS now
    FROM quota LEFT JOIN locked USING (place),
        (SELECT (extract(epoch FROM statement_timestamp()) * 1000000)::bigint AS now) AS clock
), by_client AS (
    SELECT r.*, CASE
            WHEN r.refusal IS NOT NULL THEN r.refusal
            WHEN a.is_missing THEN 8
            WHEN r.client_rank > a.lease + a.permits THEN 2
        END AS refusal_2
    FROM (SELECT request.*, row_number() OVER (
                PARTITION BY client_limit, refusal IS NULL ORDER BY ord) AS client_rank
            FROM request) AS r
        LEFT JOIN allowance AS a ON a.place = r.client_limit
), by_tenant AS MATERIALIZED (
    SELECT r.*, CASE
            WHEN r.refusal_2 IS NOT NULL THEN r.refusal_2
            WHEN a.is_missing THEN 8
            WHEN r.tenant_rank > a.lease + a.permits THEN 3
        END AS refusal_3
    FROM (SELECT by_client.*, row_number() OVER (
                PARTITION BY tenant_limit, refusal_2 IS NULL ORDER BY ord) AS tenant_rank
            FROM by_client) AS r
        LEFT JOIN allowance AS a ON a.place = r.tenant_limit
), first_use AS MATERIALIZED (
    SELECT DISTINCT ON (proof) proof, proof_slot, ord FROM by_tenant
    WHERE refusal_3 IS NULL AND proof IS NOT NULL
        AND NOT broker.proof_seen((proof_slot - 1)::integer, proof)
        AND NOT broker.proof_seen((proof_slot + 1)::integer, proof)
    ORDER BY proof, ord
), fresh_proof AS (
    INSERT INTO broker.proof_jti (slot, hash)
    SELECT proof_slot, proof FROM first_use ORDER BY proof
    ON CONFLICT DO NOTHING
    RETURNING hash
), candidate AS MATERIALIZED (
    SELECT r.*, row_number() OVER (
            PARTITION BY client_id, dpop_jkt, policy, refusal_4 IS NULL ORDER BY ord) AS install_rank
    FROM (SELECT by_tenant.*, CASE
                WHEN refusal_3 IS NOT NULL THEN refusal_3
                WHEN by_tenant.proof IS NOT NULL AND f.ord IS NULL THEN 4
            END AS refusal_4
            FROM by_tenant LEFT JOIN (
                SELECT ord FROM first_use JOIN fresh_proof ON hash = proof) AS f USING (ord)) AS r
), install AS (
    INSERT INTO broker.install_rate AS rate
        (client_id, dpop_jkt, policy, burst, step, granted, seen_at, tat)
    SELECT client_id, dpop_jkt, policy, min(burst), max(step), LEAST(count(*), min(burst)), min(now),
        min(now) + LEAST(count(*), min(burst)) * max(step)
    FROM candidate WHERE refusal_4 IS NULL
    GROUP BY client_id, dpop_jkt, policy
    ORDER BY dpop_jkt COLLATE "C", client_id COLLATE "C", policy COLLATE "C"
    -- A batch that waited for the row began before the one it waited for: on a row time never runs back,
    -- otherwise the difference would cost a permit.
    ON CONFLICT (dpop_jkt, client_id, policy) DO UPDATE SET
        burst = excluded.burst, step = excluded.step,
        seen_at = GREATEST(rate.seen_at, excluded.seen_at),
        granted = LEAST(excluded.granted, broker.permits(excluded.burst, excluded.step, rate.tat,
            GREATEST(rate.seen_at, excluded.seen_at))),
        tat = GREATEST(rate.tat, rate.seen_at, excluded.seen_at)
            + excluded.step * LEAST(excluded.granted, broker.permits(excluded.burst, excluded.step,
                rate.tat, GREATEST(rate.seen_at, excluded.seen_at)))
    RETURNING client_id, dpop_jkt, policy, granted, tat, seen_at
), decided AS MATERIALIZED (
    SELECT c.*, i.granted, i.tat, i.seen_at,
        CASE WHEN refusal_4 IS NOT NULL THEN refusal_4
            WHEN install_rank > i.granted THEN 1 END AS refusal_5
    FROM candidate AS c LEFT JOIN install AS i USING (client_id, dpop_jkt, policy)
), inserted AS (
    INSERT INTO broker.assertion_jti (slot, jti, client_id, dpop_jkt, expires_at)
    SELECT expires_at / 120, jti, client_id, dpop_jkt, expires_at FROM decided
    WHERE refusal_5 IS NULL
    ON CONFLICT DO NOTHING
    RETURNING jti
), verdict AS MATERIALIZED (
    SELECT d.*, CASE WHEN refusal_5 IS NOT NULL THEN refusal_5
            WHEN i.jti IS NULL THEN 7
            -- Fewer rows than records: one jti may stand twice in this very batch.
            WHEN (SELECT count(*) FROM inserted)
                    < (SELECT count(*) FROM decided WHERE refusal_5 IS NULL)
                AND EXISTS (SELECT FROM decided AS e
                    WHERE e.jti = d.jti AND e.ord < d.ord AND e.refusal_5 IS NULL) THEN 7
            ELSE 0 END AS code
    FROM decided AS d LEFT JOIN inserted AS i ON i.jti = d.jti
), settled AS MATERIALIZED (
    -- Only what was recorded is spent: from the lease first, then from the row, and the wish last.
    SELECT a.*, GREATEST(a.spent - a.lease, 0) AS taken,
        LEAST(a.wish, a.permits - GREATEST(a.spent - a.lease, 0)) AS leased
    FROM (SELECT allowance.*, (
                SELECT count(*) FROM verdict AS v
                WHERE v.code = 0 AND allowance.place = CASE allowance.scope
                    WHEN 'client' THEN v.client_limit ELSE v.tenant_limit END) AS spent
            FROM allowance) AS a
), paid AS (
    UPDATE broker.shared_rate AS s
    SET tat = GREATEST(s.tat, settled.now) + (settled.taken + settled.leased) * settled.step,
        seen_at = settled.now
    FROM settled
    WHERE settled.taken + settled.leased > 0
        AND (s.scope, s.subject, s.policy) = (settled.scope, settled.subject, settled.policy)
)
-- is_lease false: a record, in the order given: its verdict, permits left, microseconds (until the
-- limit is full when recorded, until the next permit when limited).
SELECT false AS is_lease, v.ord::integer AS place,
    (CASE
        WHEN v.code = 2 AND c.spent < c.lease + c.permits OR v.code = 3 AND t.spent < t.lease + t.permits
            THEN 8
        WHEN v.code NOT IN (1, 2, 3) OR wait.longest = 0 THEN v.code
        WHEN wait.longest = wait.tenant THEN 3
        WHEN wait.longest = wait.client THEN 2
        ELSE 1 END)::integer AS verdict,
    CASE v.code WHEN 0 THEN
        broker.permits(v.burst, v.step, v.tat, v.seen_at) + v.granted - v.install_rank
        ELSE 0 END AS remaining,
    CASE v.code
        WHEN 0 THEN GREATEST(0, v.tat - (v.granted - v.install_rank) * v.step - v.seen_at)
        ELSE COALESCE(wait.longest, 0) END AS microseconds
FROM verdict AS v
    LEFT JOIN settled AS c ON v.code IN (1, 2, 3) AND c.place = v.client_limit
    LEFT JOIN settled AS t ON v.code IN (1, 2, 3) AND t.place = v.tenant_limit
    LEFT JOIN LATERAL (
        -- Whichever limit refused: whoever waits must then pass all three, so the longest wait counts.
        SELECT *, GREATEST(install, client, tenant) AS longest FROM (SELECT
            CASE WHEN v.tat IS NOT NULL THEN broker.permit_wait(v.burst, v.step, v.tat, v.seen_at)
                ELSE COALESCE((
                    SELECT broker.permit_wait(v.burst, v.step, r.tat, GREATEST(v.now, r.seen_at))
                    FROM broker.install_rate AS r
                    WHERE (r.dpop_jkt, r.client_id, r.policy) = (v.dpop_jkt, v.client_id, v.policy)), 0)
                END AS install,
            CASE WHEN c.place IS NULL THEN 0 ELSE broker.permit_wait(c.burst, c.step,
                GREATEST(c.tat, c.now) + (c.taken + c.leased) * c.step, c.now) END AS client,
            CASE WHEN t.place IS NULL THEN 0 ELSE broker.permit_wait(t.burst, t.step,
                GREATEST(t.tat, t.now) + (t.taken + t.leased) * t.step, t.now) END AS tenant) AS waits
        ) AS wait ON v.code IN (1, 2, 3)
UNION ALL
-- is_lease true: a shared limit: the permits the lane holds from now on, and those newly leased.
SELECT true, place::integer, 0, lease - (spent - taken) + leased, leased FROM settled
