-- Workers that were heard of lately: who asks for work, and what was last refused. Written at most once a second each;
-- the leases that they hold are in `runs`.

CREATE TABLE workers (
    name           TEXT PRIMARY KEY,
    version        TEXT,
    model          TEXT,
    heard_at       INTEGER NOT NULL,
    asked_at       INTEGER,
    idle_since     INTEGER,
    refused_at     INTEGER,
    refused_what   TEXT,
    refused_run    TEXT,
    refused_code   TEXT,
    refused_detail TEXT
) STRICT;
CREATE INDEX workers_by_age ON workers (heard_at, name);

-- Which agents a worker works for; the empty name stands for any.
CREATE TABLE worker_agents (
    agent    TEXT    NOT NULL,
    worker   TEXT    NOT NULL REFERENCES workers (name) ON DELETE CASCADE,
    asked_at INTEGER,
    held_at  INTEGER,
    PRIMARY KEY (agent, worker)
) STRICT;
CREATE INDEX worker_agents_by_worker ON worker_agents (worker);
