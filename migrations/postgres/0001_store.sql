-- Times are microseconds since 1970 UTC. JSON is kept as canonical text, hashes as 32 bytes.

-- The one row that every writing transaction holds: event numbers follow commit order.
CREATE TABLE counter (
    id    BIGINT PRIMARY KEY CHECK (id = 1),
    event BIGINT NOT NULL,
    head  BYTEA    NOT NULL
);
INSERT INTO counter (id, event, head) VALUES (1, 0, '\x0000000000000000000000000000000000000000000000000000000000000000');

-- Servers that are alive, by their last tick.
CREATE TABLE servers (
    id        TEXT PRIMARY KEY,
    ticked_at BIGINT NOT NULL
);

CREATE TABLE runs (
    id             TEXT PRIMARY KEY,
    ord            BIGINT NOT NULL UNIQUE,
    agent          TEXT    NOT NULL,
    title          TEXT,
    status         TEXT    NOT NULL,
    version        BIGINT NOT NULL,
    code_version   TEXT,
    model          TEXT,
    labels         TEXT    NOT NULL,
    links          TEXT    NOT NULL,
    parent_run     TEXT,
    parent_seq     BIGINT,
    input          TEXT    NOT NULL,
    origin         BYTEA    NOT NULL,
    state_schema   TEXT,
    on_crash       TEXT    NOT NULL,
    max_recoveries BIGINT NOT NULL,
    recoveries     BIGINT NOT NULL,
    runnable_at    BIGINT,
    worker         TEXT,
    epoch          BIGINT NOT NULL,
    ttl_ms         BIGINT NOT NULL,
    expires_at     BIGINT,
    heartbeat_at   BIGINT,
    signal         TEXT,
    snapshot       BIGINT NOT NULL,
    hash           BYTEA    NOT NULL,
    steps          BIGINT NOT NULL,
    committed      BIGINT NOT NULL,
    announced      BIGINT NOT NULL,
    at_seq         BIGINT,
    at_name        TEXT,
    at_status      TEXT,
    input_tokens   BIGINT,
    output_tokens  BIGINT,
    cost_usd       DOUBLE PRECISION,
    result         TEXT,
    error          TEXT,
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL,
    started_at     BIGINT,
    finished_at    BIGINT
);
CREATE INDEX runs_by_status ON runs (status, ord);
CREATE INDEX runs_by_agent ON runs (agent, status, ord);
CREATE INDEX runs_by_lease ON runs (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX runs_asleep ON runs (runnable_at) WHERE runnable_at IS NOT NULL;

CREATE TABLE run_labels (
    run   TEXT NOT NULL REFERENCES runs (id),
    key   TEXT NOT NULL,
    value TEXT NOT NULL,
    ord   BIGINT NOT NULL,
    PRIMARY KEY (key, value, ord)
);

CREATE TABLE announced (
    run    TEXT    NOT NULL REFERENCES runs (id),
    idx    BIGINT NOT NULL,
    key    TEXT,
    name   TEXT    NOT NULL,
    kind   TEXT    NOT NULL,
    tool   TEXT,
    effect TEXT,
    seq    BIGINT,
    PRIMARY KEY (run, idx)
);

CREATE TABLE leases (
    run        TEXT    NOT NULL REFERENCES runs (id),
    epoch      BIGINT NOT NULL,
    worker     TEXT    NOT NULL,
    version    TEXT,
    model      TEXT,
    granted_at BIGINT NOT NULL,
    ended_at   BIGINT,
    ended_by   TEXT,
    body       BYTEA,
    PRIMARY KEY (run, epoch)
);

CREATE TABLE steps (
    run          TEXT    NOT NULL REFERENCES runs (id),
    seq          BIGINT NOT NULL,
    key          TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    tool         TEXT,
    input        TEXT    NOT NULL,
    input_hash   BYTEA    NOT NULL,
    effect       TEXT,
    recovery     TEXT    NOT NULL,
    max_attempts BIGINT NOT NULL,
    backoff_ms   BIGINT NOT NULL,
    gate         TEXT,
    refs         TEXT    NOT NULL,
    links        TEXT    NOT NULL,
    status       TEXT    NOT NULL,
    attempts     BIGINT NOT NULL,
    failures     BIGINT NOT NULL,
    generation   BIGINT NOT NULL,
    told         TEXT    NOT NULL,
    epoch        BIGINT NOT NULL,
    unknown      BIGINT NOT NULL,
    given        BIGINT NOT NULL,
    decision     TEXT,
    snapshot     BIGINT,
    retry_at     BIGINT,
    result       TEXT,
    result_hash  BYTEA,
    error        TEXT,
    cost_usd     DOUBLE PRECISION,
    begun_at     BIGINT NOT NULL,
    ended_at     BIGINT,
    PRIMARY KEY (run, seq)
);
CREATE UNIQUE INDEX steps_by_key ON steps (run, key) WHERE status <> 'superseded';
CREATE INDEX steps_open ON steps (run, status) WHERE status IN ('running', 'crashed', 'waiting');

CREATE TABLE attempts (
    run           TEXT    NOT NULL,
    seq           BIGINT NOT NULL,
    attempt       BIGINT NOT NULL,
    worker        TEXT    NOT NULL,
    epoch         BIGINT NOT NULL,
    base          BIGINT NOT NULL,
    begun_at      BIGINT NOT NULL,
    heartbeat_at  BIGINT,
    ended_at      BIGINT,
    outcome       TEXT    NOT NULL,
    input         TEXT,
    error         TEXT,
    partial       TEXT,
    body          BYTEA,
    answer        TEXT,
    input_tokens  BIGINT,
    output_tokens BIGINT,
    cost_usd      DOUBLE PRECISION,
    evidence      TEXT,
    log_lines     BIGINT NOT NULL,
    PRIMARY KEY (run, seq, attempt),
    FOREIGN KEY (run, seq) REFERENCES steps (run, seq)
);

CREATE TABLE log_lines (
    run     TEXT    NOT NULL,
    seq     BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    n       BIGINT NOT NULL,
    at      BIGINT NOT NULL,
    level   TEXT    NOT NULL,
    message TEXT    NOT NULL,
    PRIMARY KEY (run, seq, attempt, n)
);

-- A state: a keyframe holds it whole, a delta as its change against the one before.
CREATE TABLE snapshots (
    run        TEXT    NOT NULL REFERENCES runs (id),
    n          BIGINT NOT NULL,
    seq        BIGINT,
    created_at BIGINT NOT NULL,
    keyframe   BIGINT NOT NULL,
    weight     BIGINT NOT NULL,
    encoding   TEXT    NOT NULL,
    body       BYTEA    NOT NULL,
    state_hash BYTEA    NOT NULL,
    hash       BYTEA    NOT NULL,
    PRIMARY KEY (run, n)
);

CREATE TABLE events (
    id   BIGINT PRIMARY KEY,
    run  TEXT    NOT NULL,
    seq  BIGINT,
    kind TEXT    NOT NULL,
    at   BIGINT NOT NULL,
    data TEXT    NOT NULL,
    hash BYTEA    NOT NULL
);
CREATE INDEX events_by_run ON events (run, id);

CREATE TABLE decisions (
    id      BIGINT PRIMARY KEY,
    run     TEXT    NOT NULL REFERENCES runs (id),
    kind    TEXT    NOT NULL,
    author  TEXT    NOT NULL,
    reason  TEXT,
    step    BIGINT,
    version BIGINT NOT NULL,
    body    TEXT    NOT NULL,
    at      BIGINT NOT NULL
);
CREATE INDEX decisions_by_run ON decisions (run, id);

-- Requests that carried an Idempotency-Key, with their first answer.
CREATE TABLE requests (
    scope  TEXT    NOT NULL,
    key    TEXT    NOT NULL,
    body   BYTEA    NOT NULL,
    answer BYTEA    NOT NULL,
    at     BIGINT NOT NULL,
    PRIMARY KEY (scope, key)
);
CREATE INDEX requests_by_age ON requests (at);
