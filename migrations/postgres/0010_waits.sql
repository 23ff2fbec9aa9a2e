-- How long nobody held a run between its leases. Rows of earlier versions have none: what they waited is not known.
ALTER TABLE runs ADD COLUMN unheld_us BIGINT;

-- Runs at an open gate, also while a worker holds them.
CREATE INDEX runs_at_gate ON runs (status, ord) WHERE at_status = 'waiting';
-- Child runs that run now, however many are over.
CREATE INDEX runs_of_parent_by_status ON runs (parent_run, status, ord) WHERE parent_run IS NOT NULL;
-- When a worker last let go of a run.
CREATE INDEX leases_of_worker ON leases (worker, ended_at);
