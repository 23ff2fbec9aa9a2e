-- Workers that were heard of lately: who asks for work, and what was last refused. Written at most once a second each;
-- the leases that they hold are in `runs`.

CREATE TABLE workers (
    name           TEXT PRIMARY KEY,
    version        TEXT,
    model          TEXT,
    heard_at       BIGINT NOT NULL,
    asked_at       BIGINT,
    idle_since     BIGINT,
    refused_at     BIGINT,
    refused_what   TEXT,
    refused_run    TEXT,
    refused_code   TEXT,
    refused_detail TEXT
);
CREATE INDEX workers_by_age ON workers (heard_at, name);

-- Which agents a worker works for; the empty name stands for any.
CREATE TABLE worker_agents (
    agent    TEXT    NOT NULL,
    worker   TEXT    NOT NULL REFERENCES workers (name) ON DELETE CASCADE,
    asked_at BIGINT,
    held_at  BIGINT,
    PRIMARY KEY (agent, worker)
);
CREATE INDEX worker_agents_by_worker ON worker_agents (worker);
