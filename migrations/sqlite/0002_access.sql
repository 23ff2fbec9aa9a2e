-- People, tokens and sessions. Secrets are kept as hashes only.

CREATE TABLE users (
    name        TEXT PRIMARY KEY,
    role        TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    disabled_at INTEGER
) STRICT;

CREATE TABLE signin_links (
    hash       BLOB PRIMARY KEY,
    user_name  TEXT    NOT NULL REFERENCES users (name),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at    INTEGER
) STRICT;

CREATE TABLE sessions (
    hash       BLOB PRIMARY KEY,
    user_name  TEXT    NOT NULL REFERENCES users (name),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

CREATE TABLE tokens (
    id         TEXT PRIMARY KEY,
    name       TEXT    NOT NULL,
    role       TEXT    NOT NULL,
    hash       BLOB    NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;
