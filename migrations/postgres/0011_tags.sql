-- Names that programs give to snapshots. A tag keeps its row when a rewind hides it: its name is free again, its history stays.
CREATE TABLE tags (
    run        TEXT   NOT NULL REFERENCES runs (id),
    n          BIGINT NOT NULL,
    space      TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    -- Of space and id: they may be longer than an index takes.
    name       BYTEA  NOT NULL,
    snapshot   BIGINT NOT NULL,
    hash       BYTEA  NOT NULL,
    seq        BIGINT,
    created_at BIGINT NOT NULL,
    meta       TEXT,
    body       BYTEA  NOT NULL,
    hidden     BIGINT NOT NULL,
    seal       BYTEA  NOT NULL,
    PRIMARY KEY (run, n)
);
CREATE UNIQUE INDEX tags_by_name ON tags (run, name) WHERE hidden = 0;
CREATE INDEX tags_by_age ON tags (n, run) WHERE hidden = 0;
CREATE INDEX tags_of_snapshot ON tags (run, snapshot, n) WHERE hidden = 0;
