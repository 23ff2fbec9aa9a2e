-- Names that programs give to snapshots. A tag keeps its row when a rewind hides it: its name is free again, its history stays.
CREATE TABLE tags (
    run        TEXT    NOT NULL REFERENCES runs (id),
    n          INTEGER NOT NULL,
    space      TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    -- Of space and id: they may be longer than an index takes.
    name       BLOB    NOT NULL,
    snapshot   INTEGER NOT NULL,
    hash       BLOB    NOT NULL,
    seq        INTEGER,
    created_at INTEGER NOT NULL,
    meta       TEXT,
    body       BLOB    NOT NULL,
    hidden     INTEGER NOT NULL,
    seal       BLOB    NOT NULL,
    PRIMARY KEY (run, n)
) STRICT;
CREATE UNIQUE INDEX tags_by_name ON tags (run, name) WHERE hidden = 0;
CREATE INDEX tags_by_age ON tags (n, run) WHERE hidden = 0;
CREATE INDEX tags_of_snapshot ON tags (run, snapshot, n) WHERE hidden = 0;
