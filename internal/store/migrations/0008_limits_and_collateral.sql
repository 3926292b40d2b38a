-- Limits (R12) and what is held against a loss (R7).

-- What a site, a channel, a booking or a payment may come to. A limit is only ever added: of those in force on a day the
-- one from the latest day counts, of two from the same day the later recorded one.
CREATE TABLE limits (
    site_id     BIGINT NOT NULL,
    id          {{serial}},
    scope       TEXT   NOT NULL, -- transaction, booking, channel or site
    channel_id  BIGINT,          -- of this channel alone, before the general one; NULL: of every channel, or of the site
    from_day    BIGINT NOT NULL, -- in force from then on
    amount      BIGINT,          -- minor units of currency; NULL: no limit of its own from then on
    currency    TEXT   NOT NULL, -- the policy's on from_day: what a use is counted in
    note        TEXT   NOT NULL, -- why, for whoever reads it later
    author_id   BIGINT NOT NULL, -- 0: the program itself
    author      TEXT   NOT NULL,
    recorded_at BIGINT NOT NULL,
    {{key}} (site_id, id),
    FOREIGN KEY (site_id) REFERENCES sites (id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id)
);

-- A use that rose to 80, 95 or 100 % of its limit. Append-only; the next one comes when it has fallen below before.
CREATE TABLE limit_events (
    site_id        BIGINT NOT NULL,
    id             {{serial}},
    scope          TEXT   NOT NULL,
    object_id      BIGINT NOT NULL, -- of the transaction, booking or channel; 0 for the site
    channel_id     BIGINT NOT NULL, -- where it happened; 0 for the site
    percent        BIGINT NOT NULL, -- 80, 95 or 100
    use_amount     BIGINT NOT NULL, -- after the change that crossed, minor units of currency
    limit_amount   BIGINT NOT NULL,
    currency       TEXT   NOT NULL,
    limit_id       BIGINT NOT NULL,
    transaction_id BIGINT,          -- that crossed it; NULL where no payment did: a new limit, a changed booking
    crossed_at     BIGINT NOT NULL, -- when that change was recorded
    recorded_at    BIGINT NOT NULL,
    {{key}} (site_id, id)
);
CREATE INDEX limit_events_by_object ON limit_events (site_id, scope, object_id, id);

-- What of an allocation lies above a limit. The payment is protected all the same; the report says so.
CREATE TABLE over_limits (
    site_id        BIGINT NOT NULL,
    allocation_id  BIGINT NOT NULL,
    scope          TEXT   NOT NULL,
    transaction_id BIGINT NOT NULL, -- of the allocation
    amount         BIGINT NOT NULL, -- minor units of currency
    currency       TEXT   NOT NULL,
    use_amount     BIGINT NOT NULL, -- with this allocation
    limit_amount   BIGINT NOT NULL,
    limit_id       BIGINT NOT NULL,
    recorded_at    BIGINT NOT NULL,
    PRIMARY KEY (site_id, allocation_id, scope)
);
CREATE INDEX over_limits_by_transaction ON over_limits (site_id, transaction_id);

-- What changed the use of a channel and its site, in the order in which it counts: the id. A row is written in the same
-- transaction as its cause and removed in the one that settles it, so that nothing is lost and nothing counts twice.
CREATE TABLE limit_changes (
    site_id        BIGINT NOT NULL,
    id             {{serial}},
    kind           TEXT   NOT NULL, -- payment, event, re_dated, priced or limit
    transaction_id BIGINT NOT NULL, -- the cause of a payment or event; 0 for the others
    allocation_id  BIGINT NOT NULL, -- of a re_dated or priced one; 0 for the others
    recorded_at    BIGINT NOT NULL,
    {{key}} (site_id, id)
);
-- By id alone: what was seen last, over all sites.
CREATE INDEX limit_changes_by_id ON limit_changes (id);

-- What is on file already is settled like what comes: in the order of the payments.
INSERT INTO limit_changes (site_id, kind, transaction_id, allocation_id, recorded_at)
SELECT site_id, CASE WHEN type IN ('purchase', 'capture') THEN 'payment' ELSE 'event' END, id, 0, created_at
FROM transactions WHERE type IN ('purchase', 'capture', 'refund', 'chargeback', 'chargeback-reversal') ORDER BY id;

-- The last change that had been seen at an instant. Ids can become visible out of order; but whatever has an id up to
-- there had begun by then, and is visible or gone once the longest life of a write is over.
CREATE TABLE limit_horizons (
    up_to   BIGINT NOT NULL PRIMARY KEY, -- id of a change
    seen_at BIGINT NOT NULL              -- by the real clock
);

-- How far the running use of a site has come. Taking the version is the lock on all that follows from it.
CREATE TABLE limit_books (
    site_id     BIGINT NOT NULL PRIMARY KEY,
    day         BIGINT NOT NULL, -- the uses are those at the end of this day
    known_at    BIGINT NOT NULL, -- the latest change that was settled was recorded then
    recognition TEXT   NOT NULL, -- by which the lines were computed (R4)
    walked_to   BIGINT,          -- while a new recognition is applied: the allocation that it has come to; NULL: done
    version     BIGINT NOT NULL
);

-- What each allocation adds to the use: its E1 locked. Those that add nothing now and later have no row.
CREATE TABLE limit_lines (
    site_id       BIGINT NOT NULL,
    allocation_id BIGINT NOT NULL,
    channel_id    BIGINT NOT NULL,
    amount        BIGINT NOT NULL, -- minor units of currency
    currency      TEXT   NOT NULL, -- the policy's when it was recorded
    due_day       BIGINT,          -- the next day on which the amount changes by itself; NULL: none
    PRIMARY KEY (site_id, allocation_id)
);
CREATE INDEX limit_lines_due ON limit_lines (site_id, due_day, allocation_id);

-- The running use of channels and sites, and how far up its limit it stands. Of a booking the level alone is kept.
CREATE TABLE limit_uses (
    site_id   BIGINT NOT NULL,
    scope     TEXT   NOT NULL,
    object_id BIGINT NOT NULL, -- of the booking or channel; 0 for the site
    currency  TEXT   NOT NULL,
    amount    BIGINT NOT NULL,
    level     BIGINT NOT NULL, -- 0, 80, 95 or 100: the last threshold that was crossed and not fallen below
    PRIMARY KEY (site_id, scope, object_id, currency)
);

-- What is held against a loss. Append-only: a correction is a new row of the same record, and the last one counts.
CREATE TABLE collateral (
    site_id     BIGINT NOT NULL,
    id          {{serial}},
    record_id   BIGINT NOT NULL, -- id of the first row of the record; 0 in that row itself
    kind        TEXT   NOT NULL, -- cash, guarantee, rolling-reserve, insurance or other
    channel_id  BIGINT,          -- for this channel's losses; NULL: for any of the site's
    currency    TEXT   NOT NULL,
    amount      BIGINT NOT NULL, -- minor units of currency; 0 takes a record back
    from_day    BIGINT NOT NULL, -- effective: held from this day
    to_day      BIGINT,          -- to this one, included; NULL: until further notice
    reference   TEXT   NOT NULL, -- of the contract or account
    note        TEXT   NOT NULL,
    author_id   BIGINT NOT NULL, -- 0: the program itself
    author      TEXT   NOT NULL,
    recorded_at BIGINT NOT NULL, -- when it was learned
    {{key}} (site_id, id),
    FOREIGN KEY (site_id) REFERENCES sites (id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id)
);
