-- Each row carries a hash of its own columns. Rows of earlier versions are sealed once, when the store is opened.

ALTER TABLE runs ADD COLUMN seal BYTEA;
ALTER TABLE announced ADD COLUMN seal BYTEA;
ALTER TABLE leases ADD COLUMN seal BYTEA;
ALTER TABLE steps ADD COLUMN seal BYTEA;
ALTER TABLE attempts ADD COLUMN seal BYTEA;
ALTER TABLE log_lines ADD COLUMN seal BYTEA;
ALTER TABLE snapshots ADD COLUMN seal BYTEA;
ALTER TABLE decisions ADD COLUMN seal BYTEA;
ALTER TABLE refs ADD COLUMN seal BYTEA;
ALTER TABLE requests ADD COLUMN seal BYTEA;
ALTER TABLE terms ADD COLUMN seal BYTEA;
ALTER TABLE users ADD COLUMN seal BYTEA;
ALTER TABLE signin_links ADD COLUMN seal BYTEA;
ALTER TABLE sessions ADD COLUMN seal BYTEA;
ALTER TABLE tokens ADD COLUMN seal BYTEA;

-- Whether that was done.
ALTER TABLE counter ADD COLUMN sealed BIGINT NOT NULL DEFAULT 0;
