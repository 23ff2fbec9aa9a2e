-- People, tokens and sessions. Secrets are kept as hashes only.

CREATE TABLE users (
    name        TEXT PRIMARY KEY,
    role        TEXT    NOT NULL,
    created_at  BIGINT NOT NULL,
    disabled_at BIGINT
);

CREATE TABLE signin_links (
    hash       BYTEA PRIMARY KEY,
    user_name  TEXT    NOT NULL REFERENCES users (name),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at    BIGINT
);

CREATE TABLE sessions (
    hash       BYTEA PRIMARY KEY,
    user_name  TEXT    NOT NULL REFERENCES users (name),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE TABLE tokens (
    id         TEXT PRIMARY KEY,
    name       TEXT    NOT NULL,
    role       TEXT    NOT NULL,
    hash       BYTEA    NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);
