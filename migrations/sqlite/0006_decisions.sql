-- What operators decide, and what they are told before: forks, edits, the resume plan, the inbox, the audit trail.

-- A fork of its parent: states up to this one are the parent's.
ALTER TABLE runs ADD COLUMN forked_at INTEGER;
-- An operator has seen that it stopped.
ALTER TABLE runs ADD COLUMN acknowledged INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN looking_by TEXT;
ALTER TABLE runs ADD COLUMN looking_until INTEGER;
-- Time spent in committed steps.
ALTER TABLE runs ADD COLUMN busy_us INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET busy_us = COALESCE((SELECT SUM(s.ended_at - s.begun_at) FROM steps s
    WHERE s.run = runs.id AND s.status = 'committed'), 0);

-- The snapshot that a decision made, the step where the run was, the run that a fork made.
ALTER TABLE decisions ADD COLUMN snapshot INTEGER;
ALTER TABLE decisions ADD COLUMN new_run TEXT;
CREATE INDEX decisions_that_edit ON decisions (run, id) WHERE snapshot IS NOT NULL;

-- Since when the outside provider may know the step's key, where that is not since it began.
ALTER TABLE steps ADD COLUMN keyed_at INTEGER;
CREATE INDEX steps_waiting ON steps (begun_at, run, seq) WHERE status = 'waiting';
CREATE INDEX steps_with_effects ON steps (run, seq) WHERE effect IS NOT NULL;

-- The result that an operator gave for a step before it began.
ALTER TABLE announced ADD COLUMN skipped TEXT;

-- What steps rely on outside: how it looked first, and when workers registered it last.
CREATE TABLE refs (
    run        TEXT    NOT NULL REFERENCES runs (id),
    uri        TEXT    NOT NULL,
    was        TEXT    NOT NULL,
    hash       TEXT    NOT NULL,
    first      INTEGER NOT NULL,
    epoch      INTEGER NOT NULL,
    checked_at INTEGER NOT NULL,
    checked_by TEXT    NOT NULL,
    PRIMARY KEY (run, uri)
) STRICT;

-- Decisions, sign-ins, changes of access and refused attempts: one chain of hashes, whose head is in `counter`.
CREATE TABLE audit (
    id     INTEGER PRIMARY KEY,
    at     INTEGER NOT NULL,
    kind   TEXT    NOT NULL,
    actor  TEXT    NOT NULL,
    action TEXT    NOT NULL,
    run    TEXT,
    step   INTEGER,
    reason TEXT,
    detail TEXT    NOT NULL,
    hash   BLOB    NOT NULL
) STRICT;
CREATE INDEX audit_by_kind ON audit (kind, id);
CREATE INDEX audit_by_actor ON audit (actor, id);
CREATE INDEX audit_by_action ON audit (action, id);
CREATE INDEX audit_by_run ON audit (run, id) WHERE run IS NOT NULL;
ALTER TABLE counter ADD COLUMN audit INTEGER NOT NULL DEFAULT 0;
ALTER TABLE counter ADD COLUMN audit_head BLOB NOT NULL DEFAULT x'0000000000000000000000000000000000000000000000000000000000000000';
