-- What a policy says about premium and statements. A policy is only ever added: what was computed under an older one
-- stays as it was.

-- Whether it knows return premium (R10).
ALTER TABLE policies ADD COLUMN premium_refundable BOOLEAN NOT NULL DEFAULT TRUE;
-- Minor units of currency, wherever there is any premium (R10).
ALTER TABLE policies ADD COLUMN minimum_per_line BIGINT NOT NULL DEFAULT 0;
-- Minor units of currency, a line of the statement (R10).
ALTER TABLE policies ADD COLUMN minimum_per_month BIGINT NOT NULL DEFAULT 0;
-- JSON: [{code, rate_ppm, label}], in the order of the statement.
ALTER TABLE policies ADD COLUMN tax_codes TEXT NOT NULL DEFAULT '[]';
-- Of new channels, until they are given their own.
ALTER TABLE policies ADD COLUMN statement_period TEXT NOT NULL DEFAULT 'month';
-- Business days until a statement is due (R11).
ALTER TABLE policies ADD COLUMN payment_terms_days BIGINT NOT NULL DEFAULT 10;

-- The rate card of a policy: parts per million of the value by lead, the days from payment to the end of travel (R10).
CREATE TABLE rate_card_lines (
    site_id    BIGINT NOT NULL,
    id         {{serial}},
    policy_id  BIGINT NOT NULL,
    channel_id BIGINT,          -- of that channel instead of the site's lines; NULL: of all channels without their own
    lead_from  BIGINT NOT NULL, -- days, both ends included; the bands follow each other without a gap
    lead_to    BIGINT,          -- NULL: the last band has no end
    ppm        BIGINT NOT NULL,
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, policy_id) REFERENCES policies (site_id, id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id)
);
CREATE INDEX rate_card_lines_by_policy ON rate_card_lines (site_id, policy_id, id);

-- Policies from before there were rate cards get the one that new sites begin with.
INSERT INTO rate_card_lines (site_id, policy_id, channel_id, lead_from, lead_to, ppm)
SELECT p.site_id, p.id, NULL, b.lead_from, b.lead_to, b.ppm FROM policies p CROSS JOIN (
    SELECT 0 AS lead_from, 30 AS lead_to, 2500 AS ppm
    UNION ALL SELECT 31, 90, 5000
    UNION ALL SELECT 91, 180, 8500
    UNION ALL SELECT 181, 365, 12000
    UNION ALL SELECT 366, NULL, 16000
) b ORDER BY p.site_id, p.id, b.lead_from;

-- The policy in force on P when the allocation was recorded: a policy that is added later, from whatever day, changes
-- nothing that was computed before. 0: recorded before this was kept; the policies' dates tell.
ALTER TABLE allocations ADD COLUMN policy_id BIGINT NOT NULL DEFAULT 0;
-- Taking it is the lock on the allocation's premium.
ALTER TABLE allocations ADD COLUMN version BIGINT NOT NULL DEFAULT 0;

-- The premium ledger (R10), append-only: each line is the difference between the premium of two states of an
-- allocation, with the state it leads to. Always: the sum of amount = premium of the last state + the sum of retained.
CREATE TABLE premium_lines (
    site_id         BIGINT  NOT NULL,
    id              {{serial}},
    allocation_id   BIGINT  NOT NULL,
    channel_id      BIGINT  NOT NULL, -- of the allocation: statements are by channel
    booking_id      BIGINT  NOT NULL, -- of the allocation
    transaction_id  BIGINT  NOT NULL, -- the cause: the payment, the refund; of a changed booking the payment again
    kind            TEXT    NOT NULL, -- original, additional, return or correction
    cause           TEXT    NOT NULL, -- purchase, refund, re_dated, late_fixing or correction
    recorded_at     BIGINT  NOT NULL, -- decides on which statement it stands (R11)
    effective_at    BIGINT  NOT NULL, -- of the cause; its day is the day of the change
    currency        TEXT    NOT NULL, -- policy currency Q
    amount          BIGINT  NOT NULL, -- the difference booked, signed, minor units; 0 where it was retained
    retained        BIGINT  NOT NULL, -- return premium that is kept for good, never negative
    state_amount    BIGINT  NOT NULL, -- a − refunds, minor units of the allocation's currency
    state_value     BIGINT  NOT NULL, -- its PV at the locked rate, minor units of currency
    lead_days       BIGINT  NOT NULL, -- D − P; negative: no premium, which is what flags it
    ppm             BIGINT  NOT NULL, -- of the band of the lead; 0 where the lead is negative
    premium         BIGINT  NOT NULL, -- of the state, minor units of currency
    minimum_applied BOOLEAN NOT NULL, -- premium is the minimum per line
    policy_id       BIGINT  NOT NULL, -- in force on P
    rate_card       BIGINT,           -- the line of the rate card; NULL where the lead is negative
    simulated       BOOLEAN NOT NULL, -- of a test channel: outside every total
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, allocation_id) REFERENCES allocations (site_id, id),
    FOREIGN KEY (site_id, transaction_id) REFERENCES transactions (site_id, id),
    FOREIGN KEY (site_id, policy_id) REFERENCES policies (site_id, id)
);
CREATE INDEX premium_lines_by_allocation ON premium_lines (site_id, allocation_id, id);
CREATE INDEX premium_lines_by_channel ON premium_lines (site_id, channel_id, recorded_at, id);
CREATE INDEX premium_lines_by_booking ON premium_lines (site_id, booking_id, id);
-- Whatever runs at once, an allocation is priced once.
CREATE UNIQUE INDEX premium_lines_original ON premium_lines (site_id, allocation_id) WHERE kind = 'original';
