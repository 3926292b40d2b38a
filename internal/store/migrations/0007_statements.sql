-- Statements (R11). Which premium lines a statement covers follows from (channel, currency, recorded_at): nothing has to
-- be marked when it is issued, however many lines there are, and a line can never be on two statements or on none.

-- The last number of each site. It is taken inside the write that issues the statement, and goes back with it: numbers
-- have no gaps.
CREATE TABLE statement_numbers (
    site_id BIGINT NOT NULL PRIMARY KEY REFERENCES sites (id),
    last    BIGINT NOT NULL
);

-- Up to where a channel's lines were looked at for statements. Moving it on is the lock against issuing a period twice.
CREATE TABLE statement_progress (
    site_id       BIGINT NOT NULL,
    channel_id    BIGINT NOT NULL,
    covered_until BIGINT NOT NULL, -- lines recorded before this instant are on statements, or there are none
    PRIMARY KEY (site_id, channel_id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id)
);

-- A statement as it was issued; no row of it ever changes.
CREATE TABLE statements (
    site_id    BIGINT NOT NULL,
    id         {{serial}},
    number     BIGINT NOT NULL, -- without gaps in the site
    channel_id BIGINT NOT NULL,
    period     TEXT   NOT NULL, -- month, biweek or week
    first_day  BIGINT NOT NULL, -- of the period, as people read it
    last_day   BIGINT NOT NULL,
    from_at    BIGINT NOT NULL, -- covers what was recorded from this instant on
    until_at   BIGINT NOT NULL, -- and before this one
    issued_at  BIGINT NOT NULL,
    due_day    BIGINT NOT NULL,
    currency   TEXT   NOT NULL, -- policy currency Q
    opening    BIGINT NOT NULL, -- minor units of currency, as all amounts here
    payments   BIGINT NOT NULL, -- recorded within from_at to until_at, against whichever statement of the account
    closing    BIGINT NOT NULL,
    account    BIGINT NOT NULL, -- all charges ever, this statement included: what of it is open follows from the payments
    content    TEXT   NOT NULL, -- JSON: names, lines by kind, minimum and taxes as they were
    UNIQUE (site_id, number),
    UNIQUE (site_id, channel_id, currency, until_at),
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id)
);
CREATE INDEX statements_by_issue ON statements (site_id, issued_at, id);
CREATE INDEX statements_by_due ON statements (site_id, due_day, id);

-- What was paid against a statement. Append-only: a mistake is taken back by a payment of the negative amount.
CREATE TABLE statement_payments (
    site_id      BIGINT NOT NULL,
    id           {{serial}},
    statement_id BIGINT NOT NULL,
    channel_id   BIGINT NOT NULL, -- of the statement, with its currency: the account that is paid
    currency     TEXT   NOT NULL,
    paid_on      BIGINT NOT NULL, -- day
    amount       BIGINT NOT NULL, -- minor units; negative: paid back
    reference    TEXT   NOT NULL, -- of the bank: the same one again is the same payment
    author       TEXT   NOT NULL, -- who recorded it
    recorded_at  BIGINT NOT NULL, -- decides on which statement it stands
    UNIQUE (site_id, statement_id, reference),
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, statement_id) REFERENCES statements (site_id, id)
);
CREATE INDEX statement_payments_by_account ON statement_payments (site_id, channel_id, currency, recorded_at);

-- Premium lines by when they were recorded, for the bordereau of a month; and those of a transaction.
CREATE INDEX premium_lines_by_recording ON premium_lines (site_id, recorded_at, id);
CREATE INDEX premium_lines_by_transaction ON premium_lines (site_id, transaction_id, id);
