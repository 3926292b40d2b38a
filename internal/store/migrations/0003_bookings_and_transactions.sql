-- A booking is a trip with a total cost (section 2.4). Amounts are minor units of currencies.
CREATE TABLE bookings (
    site_id         BIGINT  NOT NULL,
    id              {{serial}},
    uuid            TEXT    NOT NULL UNIQUE,
    channel_id      BIGINT  NOT NULL,
    author_id       BIGINT  NOT NULL, -- 0: the program itself
    author          TEXT    NOT NULL, -- user name at the time
    author_name     TEXT    NOT NULL, -- display name at the time
    content         TEXT    NOT NULL,
    firstname       TEXT    NOT NULL,
    surname         TEXT    NOT NULL,
    email           TEXT    NOT NULL,
    start_day       BIGINT,           -- days since 1970; NULL where only the end is known
    end_day         BIGINT  NOT NULL, -- D of R4
    pax             BIGINT  NOT NULL, -- 0 where not given
    reference       TEXT    NOT NULL, -- the caller's, not unique
    total           BIGINT  NOT NULL,
    currencies      TEXT    NOT NULL,
    country         TEXT    NOT NULL,
    language        TEXT    NOT NULL,
    modal_draft     BOOLEAN NOT NULL, -- made by the payment modal, and no payment attempted yet
    net             BIGINT  NOT NULL, -- completed purchases and captures less refunds
    held            BIGINT  NOT NULL, -- what counts against the total, open authorisations included
    open_authorised BIGINT  NOT NULL, -- what can still be captured
    locked_payments BIGINT  NOT NULL, -- how many payments are charged back
    status          TEXT    NOT NULL, -- as far as it follows from the booking alone, for lists by status
    deleted         BOOLEAN NOT NULL, -- in the trash: looks like what does not exist
    import_key      TEXT,             -- natural key of an imported booking
    version         BIGINT  NOT NULL, -- counts changes; the ETag; taking it is the lock on the booking
    created_at      BIGINT  NOT NULL,
    modified_at     BIGINT  NOT NULL,
    UNIQUE (site_id, channel_id, import_key),
    {{key}} (site_id, id),
    -- The currency is part of the reference: a channel's currency cannot change under its bookings, and a booking in
    -- another currency cannot be stored, whatever runs at the same time.
    FOREIGN KEY (site_id, channel_id, currencies) REFERENCES channels (site_id, id, currencies)
);
CREATE INDEX bookings_by_channel ON bookings (site_id, channel_id, id);
CREATE INDEX bookings_by_end ON bookings (site_id, end_day, id);
CREATE INDEX bookings_by_email ON bookings (site_id, email, id);
CREATE INDEX bookings_by_surname ON bookings (site_id, surname, id);
CREATE INDEX bookings_by_reference ON bookings (site_id, reference, id);
CREATE INDEX bookings_by_created ON bookings (site_id, created_at, id);
-- The trash, which is small: what is not in it is all less these.
CREATE INDEX bookings_deleted ON bookings (site_id) WHERE deleted;

-- Suppliers included in a booking.
CREATE TABLE booking_suppliers (
    site_id     BIGINT NOT NULL,
    booking_id  BIGINT NOT NULL,
    supplier_id BIGINT NOT NULL,
    PRIMARY KEY (site_id, booking_id, supplier_id),
    FOREIGN KEY (site_id, booking_id) REFERENCES bookings (site_id, id),
    FOREIGN KEY (site_id, supplier_id) REFERENCES suppliers (site_id, id)
);

-- A payment, or what was done with an earlier one (section 2.6). Never updated by a client, never deleted.
CREATE TABLE transactions (
    site_id         BIGINT  NOT NULL,
    id              {{serial}},
    uuid            TEXT    NOT NULL UNIQUE,
    channel_id      BIGINT  NOT NULL,
    author_id       BIGINT  NOT NULL,
    author          TEXT    NOT NULL,
    author_name     TEXT    NOT NULL,
    type            TEXT    NOT NULL, -- purchase, authorize, capture, refund, void, chargeback, chargeback-reversal
    status          TEXT    NOT NULL,
    currencies      TEXT    NOT NULL, -- payment currency
    total           BIGINT  NOT NULL, -- minor units of it
    remaining       BIGINT  NOT NULL, -- of it: what can still be refunded, captured or voided
    base_currency   TEXT    NOT NULL,
    base_total      BIGINT  NOT NULL, -- sum of the payments, minor units of base_currency
    forex_rate      TEXT    NOT NULL, -- as the caller converted, eight decimals; '' for one currency
    flags           TEXT    NOT NULL, -- comma-separated words that a reader should see
    psp             TEXT    NOT NULL,
    method          TEXT    NOT NULL, -- credit-card or bank-transfer
    payee_name      TEXT    NOT NULL,
    payee_surname   TEXT    NOT NULL,
    payee_email     TEXT    NOT NULL,
    country         TEXT    NOT NULL,
    reference       TEXT,             -- the caller's payment reference; NULL where none was given
    token           TEXT    NOT NULL,
    ip_address      TEXT    NOT NULL,
    bin_number      TEXT    NOT NULL,
    last_four       TEXT    NOT NULL,
    card_type       TEXT    NOT NULL,
    auth_code       TEXT    NOT NULL,
    attempt_3ds     BOOLEAN NOT NULL,
    redirect_url    TEXT    NOT NULL, -- where the shopper lands after 3DS
    linked_id       BIGINT,           -- the transaction that this one adjusts
    content         TEXT    NOT NULL, -- outcome message
    content_hash    TEXT    NOT NULL, -- of what the caller said, to tell a repetition from a reused reference
    import_key      TEXT,             -- natural key of an imported payment
    simulated       BOOLEAN NOT NULL, -- of a test channel: outside every total
    effective_at    BIGINT  NOT NULL, -- when the payment was taken
    version         BIGINT  NOT NULL, -- taking it is the lock on what remains
    created_at      BIGINT  NOT NULL, -- when it was learned: recorded_at of R0
    modified_at     BIGINT  NOT NULL,
    UNIQUE (site_id, channel_id, psp, reference),
    UNIQUE (site_id, channel_id, import_key),
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id),
    FOREIGN KEY (site_id, linked_id) REFERENCES transactions (site_id, id)
);
CREATE INDEX transactions_by_channel ON transactions (site_id, channel_id, id);
CREATE INDEX transactions_by_linked ON transactions (site_id, linked_id, id);
CREATE INDEX transactions_by_email ON transactions (site_id, payee_email, id);
CREATE INDEX transactions_by_reference ON transactions (site_id, reference, id);
CREATE INDEX transactions_by_created ON transactions (site_id, created_at, id);
-- Open authorisations by age, for the job that lets them expire.
CREATE INDEX transactions_open ON transactions (effective_at) WHERE type = 'authorize' AND status = 'complete' AND remaining > 0;

-- The part of a transaction that belongs to one booking: a record of GET payments.
CREATE TABLE payments (
    site_id        BIGINT NOT NULL,
    id             {{serial}},
    transaction_id BIGINT NOT NULL,
    channel_id     BIGINT NOT NULL,
    booking_id     BIGINT NOT NULL,
    currencies     TEXT   NOT NULL, -- base currency
    total          BIGINT NOT NULL,
    remaining      BIGINT NOT NULL, -- of an original: what is not yet refunded, captured or voided
    linked_id      BIGINT,          -- the payment of the original transaction that this one adjusts
    created_at     BIGINT NOT NULL,
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, transaction_id) REFERENCES transactions (site_id, id),
    FOREIGN KEY (site_id, booking_id) REFERENCES bookings (site_id, id),
    FOREIGN KEY (site_id, linked_id) REFERENCES payments (site_id, id)
);
CREATE INDEX payments_by_transaction ON payments (site_id, transaction_id, id);
CREATE INDEX payments_by_booking ON payments (site_id, booking_id, transaction_id);
CREATE INDEX payments_by_linked ON payments (site_id, linked_id);
