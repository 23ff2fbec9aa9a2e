-- What lists read: each list has an index in its own order, so that no page grows with the number of runs.

ALTER TABLE runs ADD COLUMN error_kind TEXT;
ALTER TABLE runs ADD COLUMN effects_unknown INTEGER NOT NULL DEFAULT 0;
-- Set while the run waits for a person: 0 where effects are unknown, else 1.
ALTER TABLE runs ADD COLUMN needs INTEGER;
-- Set while the run is crashed or failed: the same for runs that stopped alike.
ALTER TABLE runs ADD COLUMN cause TEXT;
-- The run's steps in short, at most a few hundred bytes.
ALTER TABLE runs ADD COLUMN strip TEXT NOT NULL DEFAULT '';

UPDATE runs SET effects_unknown = 1 WHERE EXISTS
    (SELECT 1 FROM steps s WHERE s.run = runs.id AND s.status = 'crashed' AND s.unknown = 1);
UPDATE runs SET needs = 1 - effects_unknown WHERE status IN ('crashed', 'failed', 'waiting');

CREATE INDEX runs_of_agent ON runs (agent, ord);
CREATE INDEX runs_in_need ON runs (needs, updated_at) WHERE needs IS NOT NULL;
CREATE INDEX runs_by_cause ON runs (cause, ord) WHERE cause IS NOT NULL;
CREATE INDEX runs_costly ON runs (ord) WHERE cost_usd > 20;

-- Steps by their key over all runs, newest run first.
ALTER TABLE steps ADD COLUMN ord INTEGER NOT NULL DEFAULT 0;
UPDATE steps SET ord = (SELECT r.ord FROM runs r WHERE r.id = steps.run);
CREATE INDEX steps_keyed ON steps (key, ord);

-- The words a run is found by: of its title, id, step names and errors, each once.
CREATE TABLE terms (
    ord  INTEGER NOT NULL,
    term TEXT    NOT NULL,
    PRIMARY KEY (ord, term)
) STRICT, WITHOUT ROWID;
CREATE INDEX terms_by_term ON terms (term, ord);

-- Who decided about which runs.
CREATE TABLE decided (
    author TEXT    NOT NULL,
    ord    INTEGER NOT NULL,
    PRIMARY KEY (author, ord)
) STRICT, WITHOUT ROWID;
INSERT INTO decided (author, ord) SELECT DISTINCT d.author, r.ord FROM decisions d JOIN runs r ON r.id = d.run;
