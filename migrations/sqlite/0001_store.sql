-- Times are microseconds since 1970 UTC. JSON is kept as canonical text, hashes as 32 bytes.

-- The one row that every writing transaction holds: event numbers follow commit order.
CREATE TABLE counter (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    event INTEGER NOT NULL,
    head  BLOB    NOT NULL
) STRICT;
INSERT INTO counter (id, event, head) VALUES (1, 0, x'0000000000000000000000000000000000000000000000000000000000000000');

-- Servers that are alive, by their last tick.
CREATE TABLE servers (
    id        TEXT PRIMARY KEY,
    ticked_at INTEGER NOT NULL
) STRICT;

CREATE TABLE runs (
    id             TEXT PRIMARY KEY,
    ord            INTEGER NOT NULL UNIQUE,
    agent          TEXT    NOT NULL,
    title          TEXT,
    status         TEXT    NOT NULL,
    version        INTEGER NOT NULL,
    code_version   TEXT,
    model          TEXT,
    labels         TEXT    NOT NULL,
    links          TEXT    NOT NULL,
    parent_run     TEXT,
    parent_seq     INTEGER,
    input          TEXT    NOT NULL,
    origin         BLOB    NOT NULL,
    state_schema   TEXT,
    on_crash       TEXT    NOT NULL,
    max_recoveries INTEGER NOT NULL,
    recoveries     INTEGER NOT NULL,
    runnable_at    INTEGER,
    worker         TEXT,
    epoch          INTEGER NOT NULL,
    ttl_ms         INTEGER NOT NULL,
    expires_at     INTEGER,
    heartbeat_at   INTEGER,
    signal         TEXT,
    snapshot       INTEGER NOT NULL,
    hash           BLOB    NOT NULL,
    steps          INTEGER NOT NULL,
    committed      INTEGER NOT NULL,
    announced      INTEGER NOT NULL,
    at_seq         INTEGER,
    at_name        TEXT,
    at_status      TEXT,
    input_tokens   INTEGER,
    output_tokens  INTEGER,
    cost_usd       REAL,
    result         TEXT,
    error          TEXT,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    started_at     INTEGER,
    finished_at    INTEGER
) STRICT;
CREATE INDEX runs_by_status ON runs (status, ord);
CREATE INDEX runs_by_agent ON runs (agent, status, ord);
CREATE INDEX runs_by_lease ON runs (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX runs_asleep ON runs (runnable_at) WHERE runnable_at IS NOT NULL;

CREATE TABLE run_labels (
    run   TEXT NOT NULL REFERENCES runs (id),
    key   TEXT NOT NULL,
    value TEXT NOT NULL,
    ord   INTEGER NOT NULL,
    PRIMARY KEY (key, value, ord)
) STRICT;

CREATE TABLE announced (
    run    TEXT    NOT NULL REFERENCES runs (id),
    idx    INTEGER NOT NULL,
    key    TEXT,
    name   TEXT    NOT NULL,
    kind   TEXT    NOT NULL,
    tool   TEXT,
    effect TEXT,
    seq    INTEGER,
    PRIMARY KEY (run, idx)
) STRICT;

CREATE TABLE leases (
    run        TEXT    NOT NULL REFERENCES runs (id),
    epoch      INTEGER NOT NULL,
    worker     TEXT    NOT NULL,
    version    TEXT,
    model      TEXT,
    granted_at INTEGER NOT NULL,
    ended_at   INTEGER,
    ended_by   TEXT,
    body       BLOB,
    PRIMARY KEY (run, epoch)
) STRICT;

CREATE TABLE steps (
    run          TEXT    NOT NULL REFERENCES runs (id),
    seq          INTEGER NOT NULL,
    key          TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    tool         TEXT,
    input        TEXT    NOT NULL,
    input_hash   BLOB    NOT NULL,
    effect       TEXT,
    recovery     TEXT    NOT NULL,
    max_attempts INTEGER NOT NULL,
    backoff_ms   INTEGER NOT NULL,
    gate         TEXT,
    refs         TEXT    NOT NULL,
    links        TEXT    NOT NULL,
    status       TEXT    NOT NULL,
    attempts     INTEGER NOT NULL,
    failures     INTEGER NOT NULL,
    generation   INTEGER NOT NULL,
    told         TEXT    NOT NULL,
    epoch        INTEGER NOT NULL,
    unknown      INTEGER NOT NULL,
    given        INTEGER NOT NULL,
    decision     TEXT,
    snapshot     INTEGER,
    retry_at     INTEGER,
    result       TEXT,
    result_hash  BLOB,
    error        TEXT,
    cost_usd     REAL,
    begun_at     INTEGER NOT NULL,
    ended_at     INTEGER,
    PRIMARY KEY (run, seq)
) STRICT;
CREATE UNIQUE INDEX steps_by_key ON steps (run, key) WHERE status <> 'superseded';
CREATE INDEX steps_open ON steps (run, status) WHERE status IN ('running', 'crashed', 'waiting');

CREATE TABLE attempts (
    run           TEXT    NOT NULL,
    seq           INTEGER NOT NULL,
    attempt       INTEGER NOT NULL,
    worker        TEXT    NOT NULL,
    epoch         INTEGER NOT NULL,
    base          INTEGER NOT NULL,
    begun_at      INTEGER NOT NULL,
    heartbeat_at  INTEGER,
    ended_at      INTEGER,
    outcome       TEXT    NOT NULL,
    input         TEXT,
    error         TEXT,
    partial       TEXT,
    body          BLOB,
    answer        TEXT,
    input_tokens  INTEGER,
    output_tokens INTEGER,
    cost_usd      REAL,
    evidence      TEXT,
    log_lines     INTEGER NOT NULL,
    PRIMARY KEY (run, seq, attempt),
    FOREIGN KEY (run, seq) REFERENCES steps (run, seq)
) STRICT;

CREATE TABLE log_lines (
    run     TEXT    NOT NULL,
    seq     INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    n       INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    level   TEXT    NOT NULL,
    message TEXT    NOT NULL,
    PRIMARY KEY (run, seq, attempt, n)
) STRICT;

-- A state: a keyframe holds it whole, a delta as its change against the one before.
CREATE TABLE snapshots (
    run        TEXT    NOT NULL REFERENCES runs (id),
    n          INTEGER NOT NULL,
    seq        INTEGER,
    created_at INTEGER NOT NULL,
    keyframe   INTEGER NOT NULL,
    weight     INTEGER NOT NULL,
    encoding   TEXT    NOT NULL,
    body       BLOB    NOT NULL,
    state_hash BLOB    NOT NULL,
    hash       BLOB    NOT NULL,
    PRIMARY KEY (run, n)
) STRICT;

CREATE TABLE events (
    id   INTEGER PRIMARY KEY,
    run  TEXT    NOT NULL,
    seq  INTEGER,
    kind TEXT    NOT NULL,
    at   INTEGER NOT NULL,
    data TEXT    NOT NULL,
    hash BLOB    NOT NULL
) STRICT;
CREATE INDEX events_by_run ON events (run, id);

CREATE TABLE decisions (
    id      INTEGER PRIMARY KEY,
    run     TEXT    NOT NULL REFERENCES runs (id),
    kind    TEXT    NOT NULL,
    author  TEXT    NOT NULL,
    reason  TEXT,
    step    INTEGER,
    version INTEGER NOT NULL,
    body    TEXT    NOT NULL,
    at      INTEGER NOT NULL
) STRICT;
CREATE INDEX decisions_by_run ON decisions (run, id);

-- Requests that carried an Idempotency-Key, with their first answer.
CREATE TABLE requests (
    scope  TEXT    NOT NULL,
    key    TEXT    NOT NULL,
    body   BLOB    NOT NULL,
    answer BLOB    NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT;
CREATE INDEX requests_by_age ON requests (at);
