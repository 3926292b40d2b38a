-- Buckets are kept after they are folded, and what is read in numbers is packed; docs/decisions/0002-exposure-buckets.md
-- tells why. Nothing is lost by making all of them anew, because they hold nothing that the allocations do not.
DROP TABLE exposure_blocks;
DELETE FROM exposure_deltas;
ALTER TABLE exposure_deltas ADD COLUMN noted_at BIGINT NOT NULL DEFAULT 0; -- by the real clock: what is old is folded
DELETE FROM exposure_backlog;
INSERT INTO exposure_backlog (site_id, booking_id) SELECT DISTINCT site_id, booking_id FROM allocations;

-- The buckets: every delta that is in the cubes, up to a thousand to a row, so that what no cube tells apart can be added
-- up, and what a cube holds of later days be taken out again.
CREATE TABLE exposure_buckets (
    site_id   BIGINT NOT NULL,
    id        {{serial}},
    first_day BIGINT NOT NULL, -- from which on the first of them counts
    final_day BIGINT NOT NULL, -- from which on all of them do
    last_day  BIGINT NOT NULL, -- after which none of them does
    counted   BIGINT NOT NULL, -- how many they are
    deltas    {{bytes}} NOT NULL, -- opaque to SQL
    {{key}} (site_id, id)
);

-- The cells of the cubes.
CREATE TABLE exposure_cells (
    site_id    BIGINT NOT NULL,
    id         {{serial}},
    view       TEXT   NOT NULL, -- channel; channel,month; and so on
    first_key  TEXT   NOT NULL, -- value of the view's first dimension: id, month, scheme, country or suppliers
    second_key TEXT   NOT NULL, -- of the second; '' where there is one only
    currency   TEXT   NOT NULL,
    standing   TEXT   NOT NULL,
    valued_in  TEXT   NOT NULL,
    {{key}} (site_id, id)
);
CREATE UNIQUE INDEX exposure_cells_by_view
    ON exposure_cells (site_id, view, first_key, second_key, currency, standing, valued_in);

-- What changes in a cell on the days of a block of 32 days. A report of a day sums up the earlier blocks of a view and
-- reads the days of one.
CREATE TABLE exposure_blocks (
    site_id      BIGINT NOT NULL,
    view         TEXT   NOT NULL,
    block        BIGINT NOT NULL, -- days since 1970 / 32
    cell         BIGINT NOT NULL,
    counted      BIGINT NOT NULL, -- sums over the block, of
    amount       BIGINT NOT NULL, -- what is at risk,
    by_end       BIGINT NOT NULL, -- what of it is not yet delivered with recognition end_date,
    by_start     BIGINT NOT NULL, -- and with start_date, and
    locked       BIGINT NOT NULL, -- the same three at locked rates
    locked_end   BIGINT NOT NULL,
    locked_start BIGINT NOT NULL,
    days         {{bytes}} NOT NULL, -- the changes of each day, opaque to SQL
    PRIMARY KEY (site_id, view, block, cell)
);
