-- One batch of uses, decided and committed: each identifier is burnt by the first record that names it.
-- Verdicts: 0 consumed, 1 already used, 2 stale declaration, 3 clock skew.
--
-- One lock order for all batches: by hash. Who comes second to a row another batch is inserting waits for
-- that batch's commit, and then does not insert.
--
-- $1 the broker's clock (µs), $2 how many records; then arrays, one element a record:
-- $3 revision, $4 hash of client and jti, $5 expires_at (s).
WITH request AS MATERIALIZED (
    SELECT r.*, clock.seconds,
        CASE
            WHEN r.revision <> (SELECT revision FROM broker.declaration WHERE only_row) THEN 2
            WHEN abs(clock.now - $1::bigint) > 30000000
                OR r.expires_at NOT BETWEEN clock.seconds - 30 AND clock.seconds + 390 THEN 3
        END AS refusal
    FROM ROWS FROM (
            -- Behind a subquery, so that one plan serves every batch: see record_batch.sql.
            generate_series(1, (SELECT $2::integer)),
            unnest($3::bigint[]), unnest($4::bytea[]), unnest($5::bigint[])
        ) AS r (ord, revision, hash, expires_at),
        (SELECT now, now / 1000000 AS seconds FROM (
            SELECT (extract(epoch FROM statement_timestamp()) * 1000000)::bigint AS now) AS t) AS clock
), first_use AS MATERIALIZED (
    -- The unique index decides between equal assertions. One signed again with the same jti and another
    -- exp may fall into another slot, where the index does not look.
    SELECT DISTINCT ON (hash) hash, expires_at / 120 AS slot, ord FROM request
    WHERE refusal IS NULL AND NOT broker.consumed_beside(
        (expires_at / 120)::integer, hash,
        ((seconds - 30) / 120)::integer, ((seconds + 390) / 120)::integer)
    ORDER BY hash, ord
), burnt AS (
    INSERT INTO broker.consumed_jti (slot, hash)
    SELECT slot, hash FROM first_use ORDER BY hash
    ON CONFLICT DO NOTHING
    RETURNING hash
)
SELECT r.ord::integer AS place,
    (CASE WHEN r.refusal IS NOT NULL THEN r.refusal WHEN b.ord IS NOT NULL THEN 0 ELSE 1 END)::integer
        AS verdict
FROM request AS r LEFT JOIN (
    SELECT ord FROM first_use JOIN burnt USING (hash)) AS b USING (ord)
