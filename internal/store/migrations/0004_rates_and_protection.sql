-- Fixings: how many units of a currency one euro is worth, by provider and day. They belong to no site: everyone is
-- priced by the same ones.
CREATE TABLE fixings (
    id          {{serial}},
    provider    TEXT   NOT NULL, -- ecb, manual or demo
    currency    TEXT   NOT NULL,
    day         BIGINT NOT NULL, -- days since 1970
    rate        TEXT   NOT NULL, -- decimal text, as published
    recorded_at BIGINT NOT NULL, -- on file from this instant on (R9)
    expires_at  BIGINT,          -- of a manual quote; NULL: never
    quote_id    TEXT   NOT NULL, -- of a manual quote
    UNIQUE (provider, currency, day, quote_id),
    {{key}} (id)
);
CREATE INDEX fixings_last ON fixings (currency, provider, day);

-- An allocation is the part of a purchase or capture that one booking got: what protection is computed on (R3). It is
-- decided once, when the payment is recorded, and never changes but for its price, which may be waiting for a rate.
CREATE TABLE allocations (
    site_id         BIGINT  NOT NULL,
    id              BIGINT  NOT NULL, -- the id of its payment
    channel_id      BIGINT  NOT NULL,
    booking_id      BIGINT  NOT NULL,
    transaction_id  BIGINT  NOT NULL,
    currency        TEXT    NOT NULL, -- K of R9
    amount          BIGINT  NOT NULL, -- a of R3
    scheme          TEXT    NOT NULL, -- R5
    effective_at    BIGINT  NOT NULL, -- when the payment was taken; its day is P
    recorded_at     BIGINT  NOT NULL,
    protected       BOOLEAN NOT NULL,
    reason          TEXT    NOT NULL, -- why, or why not (R2)
    simulated       BOOLEAN NOT NULL, -- of a test channel: outside every total
    late_logged     BOOLEAN NOT NULL,
    cover_from      BIGINT  NOT NULL, -- cover start, also of what is not protected: from when it would have counted
    rulepack        TEXT    NOT NULL, -- version of the dispute windows that the last days follow
    policy_currency TEXT    NOT NULL, -- Q of R9
    max_fixing_age  BIGINT  NOT NULL, -- the policy's, in days, on the day it was recorded
    priced_at       BIGINT,           -- NULL while pending_rate
    value           BIGINT,           -- PV of the amount, minor units of policy_currency; NULL while pending_rate
    from_provider   TEXT    NOT NULL, -- leg of currency: provider, day and rate of its fixing; '' for EUR and for Q
    from_day        BIGINT,
    from_rate       TEXT    NOT NULL,
    to_provider     TEXT    NOT NULL, -- leg of policy_currency
    to_day          BIGINT,
    to_rate         TEXT    NOT NULL,
    PRIMARY KEY (site_id, id),
    FOREIGN KEY (site_id, id) REFERENCES payments (site_id, id)
);
CREATE INDEX allocations_by_booking ON allocations (site_id, booking_id, id);
CREATE INDEX allocations_by_transaction ON allocations (site_id, transaction_id, id);
CREATE INDEX allocations_pending ON allocations (site_id, id) WHERE priced_at IS NULL;

-- What of an allocation follows the booking: travel dates, country, and the last day of dispute (R5). A change adds a
-- row, the old one is kept.
CREATE TABLE allocation_terms (
    site_id       BIGINT NOT NULL,
    id            {{serial}},
    allocation_id BIGINT NOT NULL,
    effective_at  BIGINT NOT NULL, -- counts from then on; the first row of an allocation also for all time before
    recorded_at   BIGINT NOT NULL,
    start_day     BIGINT NOT NULL, -- S of R4
    end_day       BIGINT NOT NULL, -- D of R4
    last_day      BIGINT NOT NULL, -- L of R5
    country       TEXT   NOT NULL,
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, allocation_id) REFERENCES allocations (site_id, id)
);
CREATE INDEX allocation_terms_by_allocation ON allocation_terms (site_id, allocation_id, id);

-- What became of an allocation's amount later (R3): refunds, chargebacks, reversals. Append-only.
CREATE TABLE allocation_events (
    site_id        BIGINT NOT NULL,
    id             {{serial}},
    allocation_id  BIGINT NOT NULL,
    transaction_id BIGINT NOT NULL, -- that brought it
    kind           TEXT   NOT NULL, -- refund, chargeback or chargeback-reversal
    amount         BIGINT NOT NULL, -- minor units of the allocation's currency, negative where a refund came back
    effective_at   BIGINT NOT NULL,
    recorded_at    BIGINT NOT NULL,
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, allocation_id) REFERENCES allocations (site_id, id)
);
CREATE INDEX allocation_events_by_allocation ON allocation_events (site_id, allocation_id, effective_at);
