-- What one run's page asks for: places in time, the few steps that are notable, milestones, child runs.

CREATE INDEX steps_by_time ON steps (run, begun_at, seq);
CREATE INDEX steps_notable ON steps (run, seq)
    WHERE status IN ('failed', 'crashed', 'waiting', 'skipped', 'superseded') OR attempts > 1 OR decision IS NOT NULL;
CREATE INDEX steps_milestones ON steps (run, seq) WHERE kind = 'milestone';
CREATE INDEX runs_by_parent ON runs (parent_run, ord) WHERE parent_run IS NOT NULL;

-- Bytes by which a step's commit made the state longer; NULL if it left the state as it was.
ALTER TABLE steps ADD COLUMN state_change INTEGER;
