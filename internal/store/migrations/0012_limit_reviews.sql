-- A limit of transactions or bookings that is new or changed is judged by what exists, too: a job walks through the
-- allocations. A row is there until it is done; a limit from a later day waits for it.
CREATE TABLE limit_reviews (
    site_id   BIGINT NOT NULL,
    limit_id  BIGINT NOT NULL,
    walked_to BIGINT NOT NULL, -- the allocation that it has come to
    PRIMARY KEY (site_id, limit_id),
    FOREIGN KEY (site_id, limit_id) REFERENCES limits (site_id, id)
);

INSERT INTO limit_reviews (site_id, limit_id, walked_to)
SELECT site_id, id, 0 FROM limits WHERE scope IN ('transaction', 'booking');

-- An allocation can lie above one limit and later above another of the same scope, and both stand. A key cannot be
-- changed in place in both engines: the table is made anew.
CREATE TABLE over_limits_by_limit (
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
    PRIMARY KEY (site_id, allocation_id, limit_id)
);
INSERT INTO over_limits_by_limit (site_id, allocation_id, scope, transaction_id, amount, currency, use_amount,
    limit_amount, limit_id, recorded_at)
    SELECT site_id, allocation_id, scope, transaction_id, amount, currency, use_amount, limit_amount, limit_id, recorded_at
    FROM over_limits;
DROP TABLE over_limits;
ALTER TABLE over_limits_by_limit RENAME TO over_limits;
CREATE INDEX over_limits_by_transaction ON over_limits (site_id, transaction_id);
