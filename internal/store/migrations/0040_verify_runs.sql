-- Checks of the whole book that somebody has asked for on a page. They belong to no site: site_id is 0. Times are of the real clock.
CREATE TABLE verify_runs (
    site_id  BIGINT NOT NULL,
    id       {{serial}},
    state    TEXT   NOT NULL, -- asked, running, done, failed or stopped
    asked_by TEXT   NOT NULL,
    asked_at BIGINT NOT NULL,
    began_at BIGINT,
    beat_at  BIGINT,          -- the last sign of life
    tries    BIGINT NOT NULL,
    progress TEXT   NOT NULL, -- in words
    ended_at BIGINT,
    findings BIGINT NOT NULL,
    result   TEXT   NOT NULL, -- JSON: the checks added up over the sites, and the first findings
    problem  TEXT   NOT NULL, -- why it failed
    {{key}} (site_id, id)
);
CREATE INDEX verify_runs_by_state ON verify_runs (site_id, state, id);
