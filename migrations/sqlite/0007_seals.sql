-- Each row carries a hash of its own columns. Rows of earlier versions are sealed once, when the store is opened.

ALTER TABLE runs ADD COLUMN seal BLOB;
ALTER TABLE announced ADD COLUMN seal BLOB;
ALTER TABLE leases ADD COLUMN seal BLOB;
ALTER TABLE steps ADD COLUMN seal BLOB;
ALTER TABLE attempts ADD COLUMN seal BLOB;
ALTER TABLE log_lines ADD COLUMN seal BLOB;
ALTER TABLE snapshots ADD COLUMN seal BLOB;
ALTER TABLE decisions ADD COLUMN seal BLOB;
ALTER TABLE refs ADD COLUMN seal BLOB;
ALTER TABLE requests ADD COLUMN seal BLOB;
ALTER TABLE terms ADD COLUMN seal BLOB;
ALTER TABLE users ADD COLUMN seal BLOB;
ALTER TABLE signin_links ADD COLUMN seal BLOB;
ALTER TABLE sessions ADD COLUMN seal BLOB;
ALTER TABLE tokens ADD COLUMN seal BLOB;

-- Whether that was done.
ALTER TABLE counter ADD COLUMN sealed INTEGER NOT NULL DEFAULT 0;
