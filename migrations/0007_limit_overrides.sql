-- Limits that hold for a while instead of the declared ones, and the role of whoever is on call.

-- One row an override: of one install, of each install of a client, of a client, or of a tenant. They belong to the
-- declaration: each change bumps the revision, so every lane of every replica decides its next batch by it
-- (docs/adr/0002, 0013). At most 1000, since every replica holds them all in memory.
-- ends_at: a replica asks how long is left, on this clock, when it loads them.
-- override_id: never used twice. The state of an override's limit is kept by it, so it begins with a full bucket.
CREATE TABLE broker.limit_override (
    override_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id text COLLATE "C" REFERENCES broker.tenant ON DELETE CASCADE,
    client_id text COLLATE "C" REFERENCES broker.client ON DELETE CASCADE,
    dpop_jkt text COLLATE "C" CHECK (octet_length(dpop_jkt) = 43),
    scope text NOT NULL CHECK (scope IN ('install', 'client', 'tenant')),
    burst integer NOT NULL CHECK (burst BETWEEN 1 AND 1000000),
    rate integer NOT NULL CHECK (rate BETWEEN 1 AND 1000000),
    per integer NOT NULL CHECK (per BETWEEN 1 AND 86400),
    reason text NOT NULL CHECK (octet_length(reason) <= 500),
    made_by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    ends_at timestamptz NOT NULL CHECK (ends_at > created_at),
    CHECK (CASE scope
        WHEN 'tenant' THEN tenant_id IS NOT NULL AND client_id IS NULL AND dpop_jkt IS NULL
        WHEN 'client' THEN tenant_id IS NULL AND client_id IS NOT NULL AND dpop_jkt IS NULL
        ELSE tenant_id IS NULL AND client_id IS NOT NULL END)
);
-- One override of a limit at a time.
CREATE UNIQUE INDEX limit_override_once
    ON broker.limit_override (scope, COALESCE(tenant_id, client_id), COALESCE(dpop_jkt, ''));

-- Whether there is such a tenant or client.
CREATE FUNCTION broker.limit_subject_exists(a_tenant text, a_client text) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN a_tenant IS NULL THEN EXISTS (SELECT FROM broker.client WHERE client_id = a_client)
        ELSE EXISTS (SELECT FROM broker.tenant WHERE tenant_id = a_tenant) END
$$;

-- Makes an override, in place of one that is there. Gives when it ends; NULL when there is no such tenant or client.
CREATE FUNCTION broker.override_limit(
    a_scope text, a_tenant text, a_client text, a_jkt text,
    a_burst integer, a_rate integer, a_per integer, a_seconds bigint, a_reason text)
RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ending timestamptz;
BEGIN
    IF NOT broker.limit_subject_exists(a_tenant, a_client) THEN
        RETURN NULL;
    END IF;
    -- Those who change the declaration take turns, so the count below holds.
    PERFORM broker.bump_revision();
    DELETE FROM broker.limit_override
    WHERE ends_at <= clock_timestamp()
        OR (scope, COALESCE(tenant_id, client_id), COALESCE(dpop_jkt, ''))
            = (a_scope, COALESCE(a_tenant, a_client), COALESCE(a_jkt, ''));
    IF (SELECT count(*) FROM broker.limit_override) >= 1000 THEN
        RAISE EXCEPTION 'there are 1000 overrides already' USING ERRCODE = 'program_limit_exceeded';
    END IF;
    INSERT INTO broker.limit_override
        (scope, tenant_id, client_id, dpop_jkt, burst, rate, per, reason, made_by, ends_at)
    -- session_user: the login, not this function's owner.
    VALUES (a_scope, a_tenant, a_client, a_jkt, a_burst, a_rate, a_per, a_reason, session_user,
        now() + make_interval(secs => a_seconds))
    RETURNING ends_at INTO ending;
    RETURN ending;
END
$$;

-- Ends an override. False when there was none.
CREATE FUNCTION broker.lift_override(a_scope text, a_tenant text, a_client text, a_jkt text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ended timestamptz;
BEGIN
    -- In the order in which all others lock.
    PERFORM FROM broker.declaration FOR UPDATE;
    DELETE FROM broker.limit_override
    WHERE (scope, COALESCE(tenant_id, client_id), COALESCE(dpop_jkt, ''))
        = (a_scope, COALESCE(a_tenant, a_client), COALESCE(a_jkt, ''))
    RETURNING ends_at INTO ended;
    -- One that had ended by itself is none.
    IF ended IS NULL OR ended <= clock_timestamp() THEN
        RETURN false;
    END IF;
    PERFORM broker.bump_revision();
    RETURN true;
END
$$;

-- Makes a limit full again, whatever policy it stands under. False when there is no such tenant or client.
CREATE FUNCTION broker.clear_limit(a_scope text, a_tenant text, a_client text, a_jkt text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT broker.limit_subject_exists(a_tenant, a_client) THEN
        RETURN false;
    END IF;
    IF a_scope = 'install' THEN
        -- A missing row is a full bucket.
        DELETE FROM broker.install_rate WHERE dpop_jkt = a_jkt AND client_id = a_client;
    ELSE
        -- In the batches' lock order.
        PERFORM FROM broker.shared_rate
        WHERE scope = a_scope AND subject = COALESCE(a_tenant, a_client)
        ORDER BY scope, subject, policy FOR UPDATE;
        UPDATE broker.shared_rate SET tat = 0
        WHERE scope = a_scope AND subject = COALESCE(a_tenant, a_client);
    END IF;
    RETURN true;
END
$$;

-- Forgets overrides that have ended (and says how many), and rows of shared_rate that have been full for an hour: those
-- of ended overrides among them. A missing row is a full bucket, made again by whoever needs it; one that somebody holds
-- is left for the next time. Any replica calls it with its maintenance; nobody's decisions change by it.
CREATE FUNCTION broker.forget_ended_limits() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    forgotten bigint;
BEGIN
    DELETE FROM broker.limit_override WHERE override_id = ANY (ARRAY(
        SELECT override_id FROM broker.limit_override
        WHERE ends_at < clock_timestamp() - interval '60 seconds' FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    DELETE FROM broker.shared_rate WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM broker.shared_rate
        WHERE tat < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - 3600000000
        FOR UPDATE SKIP LOCKED));
    RETURN forgotten;
END
$$;

REVOKE EXECUTE ON FUNCTION broker.limit_subject_exists(text, text),
    broker.override_limit(text, text, text, text, integer, integer, integer, bigint, text),
    broker.lift_override(text, text, text, text), broker.clear_limit(text, text, text, text),
    broker.forget_ended_limits() FROM PUBLIC;

-- broker_service (`broker serve`): reads what it decides by, and tidies up.
-- broker_operator (`broker limits show|override|clear`): looks at limits and at whom they belong to, and calls the
-- functions above. It can neither read tokens, keys, blocks or used identifiers, nor change anything else.
-- Give it to whoever is on call: GRANT broker_operator TO their_login;
-- A migrating role that may not create roles gets a notice; then an administrator runs CREATE ROLE broker_operator
-- NOLOGIN; and this part once more with psql. Grants can be repeated.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'broker_service') THEN
        GRANT SELECT (override_id, scope, tenant_id, client_id, dpop_jkt, burst, rate, per, ends_at)
            ON broker.limit_override TO broker_service;
        GRANT EXECUTE ON FUNCTION broker.forget_ended_limits() TO broker_service;
    ELSE
        RAISE NOTICE 'role broker_service does not exist: see 0003_service_role.sql';
    END IF;

    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'broker_operator') THEN
        BEGIN
            CREATE ROLE broker_operator NOLOGIN;
        EXCEPTION
            WHEN insufficient_privilege THEN
                RAISE NOTICE 'role broker_operator does not exist and % may not create it: see limit_overrides.sql',
                    current_user;
                RETURN;
            WHEN duplicate_object OR unique_violation THEN
                NULL;  -- another database of this cluster is being migrated at this moment
        END;
    END IF;
    GRANT USAGE ON SCHEMA broker TO broker_operator;
    GRANT SELECT ON broker.declaration, broker.tenant, broker.client, broker.limit_override,
        broker.install_rate, broker.shared_rate TO broker_operator;
    GRANT EXECUTE ON FUNCTION
        broker.override_limit(text, text, text, text, integer, integer, integer, bigint, text),
        broker.lift_override(text, text, text, text), broker.clear_limit(text, text, text, text)
        TO broker_operator;
END
$$;
