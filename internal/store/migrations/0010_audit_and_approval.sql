-- How far the clock of a sandbox site is ahead of the real one, in microseconds (R0). It moves forward only.
ALTER TABLE sites ADD COLUMN clock_ahead BIGINT NOT NULL DEFAULT 0;

-- How the clocks of sandbox sites were moved. What is recorded by the real clock (fixings, logins) is placed on a
-- site's own clock by it.
CREATE TABLE clock_moves (
    site_id  BIGINT NOT NULL REFERENCES sites (id),
    id       {{serial}},
    moved_at BIGINT NOT NULL, -- by the real clock
    ahead    BIGINT NOT NULL, -- from then on
    {{key}} (site_id, id)
);

-- The end of each site's chain of audit records. Taking it is the lock under which records get their places; site 0 is
-- the deployment itself, whose operators, keys and rates belong to no site.
CREATE TABLE audit_heads (
    site_id BIGINT NOT NULL PRIMARY KEY,
    id      BIGINT NOT NULL, -- of the last record; 0: none yet
    hash    TEXT   NOT NULL  -- of the last record, so that cutting records off the end is seen
);

-- Who changed what (R0, four eyes). Append-only; each record holds the hash of the one before it, so that a change of
-- any past record is found.
CREATE TABLE audit_records (
    site_id       BIGINT NOT NULL, -- 0: the deployment itself
    id            BIGINT NOT NULL, -- counts from 1 without gaps in its site
    at            BIGINT NOT NULL, -- by the site's clock
    real_at       BIGINT NOT NULL, -- by the real clock, which nobody moves
    user_id       BIGINT NOT NULL, -- 0: the program itself
    username      TEXT   NOT NULL, -- as it was then
    role          TEXT   NOT NULL,
    token_id      BIGINT NOT NULL, -- of the API token it came with; 0: none
    address       TEXT   NOT NULL, -- where it came from; '' on the command line
    request_id    TEXT   NOT NULL, -- ties it to the log; '' on the command line
    action        TEXT   NOT NULL, -- such as channel.change
    object        TEXT   NOT NULL, -- such as channel 7
    before_state  TEXT   NOT NULL, -- JSON; null: there was nothing
    after_state   TEXT   NOT NULL, -- JSON; null: there is nothing any more
    previous_hash TEXT   NOT NULL, -- of record id - 1; '' in the first
    hash          TEXT   NOT NULL, -- sha256 in hex of the record's canonical text
    PRIMARY KEY (site_id, id)
);
CREATE INDEX audit_records_by_action ON audit_records (site_id, action, id);

-- What needs two people (R0): one proposes, another decides.
CREATE TABLE proposals (
    site_id         BIGINT  NOT NULL REFERENCES sites (id),
    id              {{serial}},
    kind            TEXT    NOT NULL, -- open_cover, manual_rate, policy, limits or takeover
    subject         TEXT    NOT NULL, -- what it is about, such as channel 7 or a file by its hash
    payload         TEXT    NOT NULL, -- JSON: what approval carries out
    reason          TEXT    NOT NULL, -- of who proposed it
    state           TEXT    NOT NULL, -- open, approved, rejected or withdrawn
    alone           BOOLEAN NOT NULL, -- approved by who proposed it: in a sandbox
    proposed_by_id  BIGINT  NOT NULL, -- 0: the program itself
    proposed_by     TEXT    NOT NULL,
    proposed_at     BIGINT  NOT NULL,
    decided_by_id   BIGINT  NOT NULL, -- 0: nobody yet, or the program itself
    decided_by      TEXT    NOT NULL, -- '' while open
    decided_at      BIGINT,           -- NULL while open
    decision_reason TEXT    NOT NULL, -- of who decided
    result          TEXT    NOT NULL, -- JSON: what carrying it out made; '' where it was not
    version         BIGINT  NOT NULL, -- taking it is the lock on the proposal
    {{key}} (site_id, id)
);
CREATE INDEX proposals_by_state ON proposals (site_id, state, id);
CREATE INDEX proposals_by_subject ON proposals (site_id, kind, subject, id);

-- A manual quote counts for the site whose operators agreed on it, so the fixings get a site; everybody's have 0. A
-- unique rule of a table cannot be changed in place in both engines: the table is made anew.
CREATE TABLE fixings_by_site (
    id          {{serial}},
    site_id     BIGINT NOT NULL, -- 0: for every site
    provider    TEXT   NOT NULL, -- ecb, manual or demo
    currency    TEXT   NOT NULL,
    day         BIGINT NOT NULL, -- days since 1970
    rate        TEXT   NOT NULL, -- decimal text, as published
    recorded_at BIGINT NOT NULL, -- on file from this instant on (R9), by the real clock
    expires_at  BIGINT,          -- of a manual quote; NULL: never
    quote_id    TEXT   NOT NULL, -- of a manual quote
    UNIQUE (site_id, provider, currency, day, quote_id),
    {{key}} (id)
);
INSERT INTO fixings_by_site (site_id, provider, currency, day, rate, recorded_at, expires_at, quote_id)
    SELECT 0, provider, currency, day, rate, recorded_at, expires_at, quote_id FROM fixings ORDER BY id;
DROP TABLE fixings;
ALTER TABLE fixings_by_site RENAME TO fixings;
CREATE INDEX fixings_last ON fixings (currency, provider, day);
