-- Facts carry their digest, and are sealed in a chain for each site: docs/decisions/0005-verify.md.

-- SHA-256 of the columns that never change, written with the row; of a booking, of those that change with their digest
-- alone. Empty: the row is from before this migration.
ALTER TABLE bookings ADD COLUMN digest {{bytes}} NOT NULL DEFAULT '';
ALTER TABLE transactions ADD COLUMN digest {{bytes}} NOT NULL DEFAULT '';
ALTER TABLE payments ADD COLUMN digest {{bytes}} NOT NULL DEFAULT '';
ALTER TABLE allocations ADD COLUMN digest {{bytes}} NOT NULL DEFAULT '';
ALTER TABLE allocation_terms ADD COLUMN digest {{bytes}} NOT NULL DEFAULT '';
ALTER TABLE allocation_events ADD COLUMN digest {{bytes}} NOT NULL DEFAULT '';
ALTER TABLE premium_lines ADD COLUMN digest {{bytes}} NOT NULL DEFAULT '';
ALTER TABLE booking_totals ADD COLUMN digest {{bytes}} NOT NULL DEFAULT '';
ALTER TABLE statements ADD COLUMN digest {{bytes}} NOT NULL DEFAULT '';
ALTER TABLE statement_payments ADD COLUMN digest {{bytes}} NOT NULL DEFAULT '';

-- The last id of each table that may have no digest.
CREATE TABLE fact_starts (
    name  TEXT   NOT NULL PRIMARY KEY, -- of the table
    up_to BIGINT NOT NULL
);
INSERT INTO fact_starts (name, up_to) SELECT 'bookings', COALESCE(MAX(id), 0) FROM bookings;
INSERT INTO fact_starts (name, up_to) SELECT 'transactions', COALESCE(MAX(id), 0) FROM transactions;
INSERT INTO fact_starts (name, up_to) SELECT 'payments', COALESCE(MAX(id), 0) FROM payments;
INSERT INTO fact_starts (name, up_to) SELECT 'allocations', COALESCE(MAX(id), 0) FROM allocations;
INSERT INTO fact_starts (name, up_to) SELECT 'allocation_terms', COALESCE(MAX(id), 0) FROM allocation_terms;
INSERT INTO fact_starts (name, up_to) SELECT 'allocation_events', COALESCE(MAX(id), 0) FROM allocation_events;
INSERT INTO fact_starts (name, up_to) SELECT 'premium_lines', COALESCE(MAX(id), 0) FROM premium_lines;
INSERT INTO fact_starts (name, up_to) SELECT 'booking_totals', COALESCE(MAX(id), 0) FROM booking_totals;
INSERT INTO fact_starts (name, up_to) SELECT 'statements', COALESCE(MAX(id), 0) FROM statements;
INSERT INTO fact_starts (name, up_to) SELECT 'statement_payments', COALESCE(MAX(id), 0) FROM statement_payments;

-- How far the rows of a table are sealed. Ids become visible out of order, so rows are sealed some time after the last id
-- was seen: whatever has a lower id is visible or gone by then.
CREATE TABLE fact_marks (
    site_id   BIGINT NOT NULL, -- 0: rows that belong to no site
    name      TEXT   NOT NULL, -- of the table
    sealed_to BIGINT NOT NULL, -- rows up to this id are sealed
    seen_to   BIGINT NOT NULL, -- the last id that was seen
    seen_at   BIGINT NOT NULL, -- by the real clock
    PRIMARY KEY (site_id, name)
);

-- The chain of seals of a site. Each seals the rows of one table within a range of ids, and holds the hash of the seal
-- before it.
CREATE TABLE fact_seals (
    site_id       BIGINT NOT NULL,
    number        BIGINT NOT NULL, -- from 1 without gaps in its site
    name          TEXT   NOT NULL, -- of the table
    after_id      BIGINT NOT NULL, -- rows with greater ids,
    up_to         BIGINT NOT NULL, -- up to this one
    counted       BIGINT NOT NULL, -- how many there are
    digest        TEXT   NOT NULL, -- of their ids and facts in order of the ids, in hex
    sealed_at     BIGINT NOT NULL, -- by the real clock
    previous_hash TEXT   NOT NULL, -- of seal number - 1; '' in the first
    hash          TEXT   NOT NULL, -- of the columns above, in hex
    PRIMARY KEY (site_id, number)
);

-- The end of the chain of a site. Taking it is the lock under which seals get their numbers.
CREATE TABLE fact_heads (
    site_id   BIGINT NOT NULL PRIMARY KEY,
    number    BIGINT NOT NULL, -- of the last seal; 0: none yet
    hash      TEXT   NOT NULL, -- of the last seal
    sealed_at BIGINT NOT NULL
);
