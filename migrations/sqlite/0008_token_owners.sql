-- A token may belong to a person and end with them, and may end by itself.

ALTER TABLE tokens ADD COLUMN owner TEXT;
ALTER TABLE tokens ADD COLUMN expires_at INTEGER;

-- When a token or a session was last used, at most once a minute. Apart from their own rows: a server of the version
-- before would call those damaged as soon as they are sealed anew.
CREATE TABLE seen (
    hash BLOB PRIMARY KEY,
    at   INTEGER NOT NULL,
    seal BLOB
) STRICT;
