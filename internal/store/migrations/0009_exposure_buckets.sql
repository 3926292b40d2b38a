-- Exposure without reading every allocation (R7); docs/decisions/0002-exposure-buckets.md tells how it fits together.

-- The suppliers of the booking, as ids in order with commas. They follow the booking as its travel days do. Terms from
-- before this was kept get the booking's suppliers when it is counted into the buckets for the first time.
ALTER TABLE allocation_terms ADD COLUMN suppliers TEXT NOT NULL DEFAULT '';

-- What the total of a booking was before it changed (E4). The total itself stands with the booking. Changes from before
-- this was kept are not known: as of any day before, the total counts that the booking had when this table was made.
CREATE TABLE booking_totals (
    site_id    BIGINT NOT NULL,
    id         {{serial}},
    booking_id BIGINT NOT NULL,
    changed_at BIGINT NOT NULL, -- until then it was
    total      BIGINT NOT NULL, -- minor units of the booking's currency
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, booking_id) REFERENCES bookings (site_id, id)
);
CREATE INDEX booking_totals_by_booking ON booking_totals (site_id, booking_id, id);

-- Changes of buckets that are not in the cubes yet. A payment only ever inserts here, so that none waits for another;
-- folding takes the rows out again.
CREATE TABLE exposure_deltas (
    site_id    BIGINT NOT NULL,
    id         {{serial}},
    day        BIGINT NOT NULL, -- from this day on there is that much more in the bucket
    channel_id BIGINT NOT NULL,
    currency   TEXT   NOT NULL, -- base currency
    scheme     TEXT   NOT NULL, -- '' for instalments
    country    TEXT   NOT NULL,
    suppliers  TEXT   NOT NULL, -- as in allocation_terms
    standing   TEXT   NOT NULL, -- covered (E1, E2), uncovered (E5) or instalments (E4)
    valued_in  TEXT   NOT NULL, -- currency of locked; '' where there is no rate yet
    start_day  BIGINT NOT NULL, -- S of R4
    end_day    BIGINT NOT NULL, -- D of R4
    last_day   BIGINT NOT NULL, -- L of R5
    counted    BIGINT NOT NULL, -- allocations, of instalments bookings; signed, as are the amounts
    amount     BIGINT NOT NULL, -- minor units of currency
    locked     BIGINT NOT NULL, -- minor units of valued_in: each allocation at its own rate, rounded by itself
    {{key}} (site_id, id)
);

-- The cubes: for each view (one dimension or two) and cell, what changes on the days of a block of 32 days. A report of
-- a day sums up the earlier blocks and reads the days of one.
CREATE TABLE exposure_blocks (
    site_id      BIGINT NOT NULL,
    view         TEXT   NOT NULL, -- channel; channel,month; and so on
    block        BIGINT NOT NULL, -- days since 1970 / 32
    first_key    TEXT   NOT NULL, -- value of the view's first dimension: id, month, scheme, country or suppliers
    second_key   TEXT   NOT NULL, -- of the second; '' where there is one only
    currency     TEXT   NOT NULL,
    standing     TEXT   NOT NULL,
    valued_in    TEXT   NOT NULL,
    counted      BIGINT NOT NULL, -- sums over the block, of
    amount       BIGINT NOT NULL, -- what is at risk,
    by_end       BIGINT NOT NULL, -- what of it is not yet delivered with recognition end_date,
    by_start     BIGINT NOT NULL, -- and with start_date, and
    locked       BIGINT NOT NULL, -- the same three at locked rates
    locked_end   BIGINT NOT NULL,
    locked_start BIGINT NOT NULL,
    days         TEXT   NOT NULL, -- the changes of each day, opaque to SQL
    PRIMARY KEY (site_id, view, block, first_key, second_key, currency, standing, valued_in)
);

-- Taking the row is the lock under which a site's deltas are folded. No payment touches it.
CREATE TABLE exposure_folds (
    site_id BIGINT NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL
);

-- Bookings from before there were buckets, whose deltas are still to be written. As long as a site has any, its reports
-- are computed from the rows.
CREATE TABLE exposure_backlog (
    site_id    BIGINT NOT NULL,
    booking_id BIGINT NOT NULL,
    PRIMARY KEY (site_id, booking_id)
);
INSERT INTO exposure_backlog (site_id, booking_id) SELECT DISTINCT site_id, booking_id FROM allocations;
