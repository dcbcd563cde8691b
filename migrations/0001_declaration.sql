-- What the broker is told: tenants, clients, keys, tokens, blocks. Written by the admin commands only.
-- Together they are one declaration with one revision number; a mint decided on an older revision is
-- refused by the database and decided again (docs/adr/0002).

CREATE SCHEMA IF NOT EXISTS broker;

-- Which files of this folder have been applied. Made here for `psql`; `broker migrate` makes the same.
CREATE TABLE IF NOT EXISTS broker.schema_migration (
    version integer PRIMARY KEY CHECK (version > 0),
    name text NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 200),
    digest text NOT NULL CHECK (digest ~ '^[0-9a-f]{64}$'),
    applied_at timestamptz NOT NULL DEFAULT now()
);

-- One row. The primary key can only be true, so there is never a second one.
CREATE TABLE broker.declaration (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    revision bigint NOT NULL CHECK (revision >= 0),
    changed_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO broker.declaration (revision) VALUES (0);

CREATE TABLE broker.tenant (
    tenant_id text COLLATE "C" PRIMARY KEY CHECK (octet_length(tenant_id) BETWEEN 1 AND 128),
    settings jsonb NOT NULL DEFAULT '{}'
        CHECK (jsonb_typeof(settings) = 'object' AND octet_length(settings::text) <= 65536),
    changed_at timestamptz NOT NULL DEFAULT now()
);

-- settings: issuers, alg, typ, lifetime, binding, gates and limits, as the broker validated them.
CREATE TABLE broker.client (
    client_id text COLLATE "C" PRIMARY KEY CHECK (octet_length(client_id) BETWEEN 1 AND 256),
    tenant_id text COLLATE "C" NOT NULL REFERENCES broker.tenant,
    settings jsonb NOT NULL
        CHECK (jsonb_typeof(settings) = 'object' AND octet_length(settings::text) <= 65536),
    changed_at timestamptz NOT NULL DEFAULT now()
);
-- For `broker apply`, which compares one tenant at a time, and for the foreign key's own check.
CREATE INDEX client_by_tenant ON broker.client (tenant_id);

-- A key is named by a URI; its private part is never here. Retired keys have no row.
CREATE TABLE broker.signing_key (
    client_id text COLLATE "C" NOT NULL REFERENCES broker.client ON DELETE CASCADE,
    kid text COLLATE "C" NOT NULL CHECK (octet_length(kid) BETWEEN 1 AND 256),
    alg text NOT NULL CHECK (alg IN ('ES256', 'PS256')),
    uri text NOT NULL CHECK (octet_length(uri) BETWEEN 1 AND 2048),
    public_jwk jsonb NOT NULL
        CHECK (jsonb_typeof(public_jwk) = 'object' AND NOT public_jwk ?| '{d,p,q,dp,dq,qi,oth,k}'
            AND octet_length(public_jwk::text) <= 8192),
    state text NOT NULL CHECK (state IN ('pending', 'active', 'retiring')),
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (client_id, kid)
);
-- At most one key signs for a client, whoever applies what at the same time.
CREATE UNIQUE INDEX signing_key_one_active ON broker.signing_key (client_id)
    WHERE state = 'active';

-- digest: SHA-256 of the token. The token itself is shown once and kept nowhere.
CREATE TABLE broker.api_token (
    token_id text COLLATE "C" PRIMARY KEY CHECK (octet_length(token_id) BETWEEN 1 AND 64),
    tenant_id text COLLATE "C" NOT NULL REFERENCES broker.tenant,
    digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    scopes text[] NOT NULL CHECK (cardinality(scopes) BETWEEN 1 AND 16),
    label text NOT NULL CHECK (octet_length(label) <= 200),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL CHECK (expires_at > created_at),
    revoked_at timestamptz
);
-- For `broker token list`, and for the foreign key's own check.
CREATE INDEX api_token_by_tenant ON broker.api_token (tenant_id);

-- client_id NULL: blocked for every client.
CREATE TABLE broker.blocked_install (
    dpop_jkt text COLLATE "C" NOT NULL CHECK (octet_length(dpop_jkt) = 43),
    client_id text COLLATE "C" REFERENCES broker.client ON DELETE CASCADE,
    reason text NOT NULL CHECK (octet_length(reason) <= 500),
    created_at timestamptz NOT NULL DEFAULT now()
);
-- One block of an install for a client, and one for all clients (NULLs would count as distinct).
CREATE UNIQUE INDEX blocked_install_once
    ON broker.blocked_install (dpop_jkt, COALESCE(client_id, ''));

-- Keys that all replicas share, such as the one that makes DPoP nonces. Several of one name while they rotate.
CREATE TABLE broker.server_secret (
    name text COLLATE "C" NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 64),
    created_at timestamptz NOT NULL DEFAULT now(),
    value bytea NOT NULL CHECK (octet_length(value) BETWEEN 16 AND 128),
    PRIMARY KEY (name, created_at)
);

-- To be called in the transaction that changes any table above. Its row lock makes such changes
-- wait for each other, so a revision stands for exactly one state.
CREATE FUNCTION broker.bump_revision() RETURNS bigint
LANGUAGE sql AS $$
    UPDATE broker.declaration SET revision = revision + 1, changed_at = now() RETURNING revision
$$;
REVOKE EXECUTE ON FUNCTION broker.bump_revision() FROM PUBLIC;
