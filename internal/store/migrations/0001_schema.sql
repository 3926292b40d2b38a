-- The schema. Every table starts with the site in its keys, so that the data can be spread by site. Instants are
-- microseconds since 1970 in GMT, days are days since 1970, amounts are minor units. {{serial}}, {{key}} and {{bytes}}
-- stand for what the two engines write differently.

-- A site is a policyholder (an acquirer or a platform). Everything else belongs to one and names it first in its key.
CREATE TABLE sites (
    id             {{serial}},
    path           TEXT    NOT NULL UNIQUE, -- first segment of every address of the site
    name           TEXT    NOT NULL,        -- what people call it; the default of a channel's receipt label
    sandbox        BOOLEAN NOT NULL,        -- from birth or never (R0)
    permitted_urls TEXT    NOT NULL,        -- JSON array of the origins on which the payment modal may open
    version        BIGINT  NOT NULL,        -- counts changes; taking it is the lock on the site
    created_at     BIGINT  NOT NULL,        -- instants are microseconds since 1970, GMT
    modified_at    BIGINT  NOT NULL,
    clock_ahead    BIGINT  NOT NULL DEFAULT 0, -- of a sandbox's clock, in microseconds (R0); it moves forward only
    {{key}} (id)
);

-- The version of what hardly changes: the site, its channels, policies and limits. Under site 0 stand the rates, which
-- are everybody's. Whoever changes one of these draws a new version in the same write, and whoever remembers one asks
-- first whether the version is still the one that it was read under. A version is drawn by chance: one that was taken
-- back never comes again.
CREATE TABLE site_versions (
    site_id BIGINT NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL
);

-- What a site has agreed with the protection provider, dated: an older day is judged by the policy of that day.
CREATE TABLE policies (
    site_id             BIGINT NOT NULL REFERENCES sites (id),
    id                  {{serial}},
    from_day            BIGINT NOT NULL, -- in force from this day (days since 1970) until the next one
    recorded_at         BIGINT NOT NULL, -- when it was learned, for reports about what was known then
    currency            TEXT   NOT NULL, -- policy currency Q (R9)
    recognition         TEXT   NOT NULL, -- end_date, start_date or linear (R4)
    late_log_days       BIGINT NOT NULL, -- a payment logged later than this is flagged (R2)
    max_fixing_age_days BIGINT NOT NULL, -- an older fixing does not price (R9)
    premium_refundable  BOOLEAN NOT NULL, -- whether it knows return premium (R10)
    minimum_per_line    BIGINT NOT NULL, -- minor units of currency, wherever there is any premium (R10)
    minimum_per_month   BIGINT NOT NULL, -- minor units of currency, a line of the statement (R10)
    tax_codes           TEXT   NOT NULL, -- JSON: [{code, rate_ppm, label}], in the order of the statement
    statement_period    TEXT   NOT NULL, -- of new channels, until they are given their own
    payment_terms_days  BIGINT NOT NULL, -- business days until a statement is due (R11)
    {{key}} (site_id, id)
);

-- A person or a machine of a customer or of the protection provider. Users stand outside sites: one may serve many.
CREATE TABLE users (
    id                      {{serial}},
    username                TEXT    NOT NULL UNIQUE, -- in lower case: names are compared without letter case
    email                   TEXT    NOT NULL,
    display_name            TEXT    NOT NULL,
    password_hash           TEXT    NOT NULL,        -- argon2id with its parameters
    operator                BOOLEAN NOT NULL,        -- the protection provider's own: all rights on all sites
    two_factor_secret       TEXT    NOT NULL,        -- TOTP secret, '' where none was begun
    two_factor_confirmed_at BIGINT,                  -- NULL until the user has shown a code once
    two_factor_last_step    BIGINT  NOT NULL,        -- a code counts once: later steps only
    refresh_generation      BIGINT  NOT NULL,        -- a refresh token of an older generation is dead
    refresh_began_at        BIGINT  NOT NULL,        -- the refresh token of a generation is the same text each time
    password_epoch          BIGINT  NOT NULL,        -- an access token of an older password is dead
    created_at              BIGINT  NOT NULL,
    modified_at             BIGINT  NOT NULL,
    {{key}} (id)
);

-- One-time codes that stand in for a lost second factor.
CREATE TABLE recovery_codes (
    user_id BIGINT NOT NULL REFERENCES users (id),
    hash    TEXT   NOT NULL, -- of the code; the code itself is shown once
    used_at BIGINT,          -- NULL while it can still be used
    PRIMARY KEY (user_id, hash)
);

-- What a user may do on a site.
CREATE TABLE memberships (
    site_id             BIGINT  NOT NULL REFERENCES sites (id),
    user_id             BIGINT  NOT NULL REFERENCES users (id),
    role                TEXT    NOT NULL, -- read_only, finance or member_admin; operators need no membership
    can_sign_off_payout BOOLEAN NOT NULL,
    created_at          BIGINT  NOT NULL,
    PRIMARY KEY (site_id, user_id)
);
CREATE INDEX memberships_by_user ON memberships (user_id, site_id);

-- API tokens (section 2.1): two per site, expired ones included.
CREATE TABLE api_tokens (
    site_id      BIGINT NOT NULL REFERENCES sites (id),
    id           {{serial}},
    user_id      BIGINT NOT NULL REFERENCES users (id), -- the creator, as whom it acts
    name         TEXT   NOT NULL,
    secret_hash  TEXT   NOT NULL, -- sha256: the secret is long and random, so a slow hash would add nothing
    last_used_at BIGINT,          -- written at most once a minute, behind the request
    expires_at   BIGINT,          -- NULL: never
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    {{key}} (site_id, id)
);

-- Keys that sign JWTs. A retired key signs no more but still verifies, so that rotating logs nobody out.
CREATE TABLE jwt_keys (
    id         TEXT   NOT NULL PRIMARY KEY, -- the kid in the header of the JWT
    secret     TEXT   NOT NULL,             -- hex
    created_at BIGINT NOT NULL,
    retired_at BIGINT                       -- NULL while it signs
);

-- Failed logins per account and per address, so that guessing is slowed whichever process is asked.
CREATE TABLE login_attempts (
    subject       TEXT   NOT NULL PRIMARY KEY, -- account:NAME or address:IP
    failures      BIGINT NOT NULL,             -- since the last success
    blocked_until BIGINT NOT NULL,             -- no attempt is judged before this instant
    last_at       BIGINT NOT NULL              -- so that old rows can be forgotten
);

-- A channel is one merchant of a site (section 2.3).
CREATE TABLE channels (
    site_id          BIGINT  NOT NULL REFERENCES sites (id),
    id               {{serial}},
    uuid             TEXT    NOT NULL UNIQUE,
    name             TEXT    NOT NULL,
    name_folded      TEXT    NOT NULL, -- in lower case by the program: engines fold only what their locale knows
    slug             TEXT    NOT NULL, -- made from the first name; stays when the name changes
    account_type     TEXT    NOT NULL, -- decides, with the mode, what is protected
    account_mode     TEXT    NOT NULL,
    was_test         BOOLEAN NOT NULL, -- born for tests: its payments are simulated for ever
    protection_type  TEXT    NOT NULL,
    currencies       TEXT    NOT NULL, -- base currency; bookings refer to it, so it cannot change under them
    language         TEXT    NOT NULL,
    primary_mail     TEXT    NOT NULL, -- comma-separated addresses
    mail_bcc         BOOLEAN NOT NULL, -- BCC mail receipts to primary_mail
    receipt_label    TEXT    NOT NULL,
    external_id      TEXT    NOT NULL, -- the caller's identifier, not unique
    status_override  TEXT    NOT NULL, -- channel_status set by the operator; '' lets it follow the mode
    statement_period TEXT    NOT NULL,
    locked           BOOLEAN NOT NULL, -- nothing logged while locked is protected (R2)
    secret           TEXT    NOT NULL, -- signs requests of the payment modal and the hash of transactions
    version          BIGINT  NOT NULL, -- counts changes; the ETag
    created_at       BIGINT  NOT NULL,
    modified_at      BIGINT  NOT NULL,
    -- The second table of section 2.3: what a channel has besides where it takes payments itself.
    cardholder_present  BOOLEAN NOT NULL,
    mail_failures       BOOLEAN NOT NULL,
    server_to_server    BOOLEAN NOT NULL,
    chargeback_mail     TEXT    NOT NULL, -- comma-separated addresses
    beneficiary_id      TEXT    NOT NULL,
    settlement_currency TEXT    NOT NULL, -- '' follows the base currency
    payout_minimum      BIGINT  NOT NULL, -- minor units of the settlement currency
    descriptor          TEXT    NOT NULL, -- on the cardholder's statement
    -- What is no secret of the access to processor and tokenizer; the secrets lie in channel_gateways.
    processor           TEXT    NOT NULL, -- such as stripe; '' where none is set
    tokenizer_id        TEXT    NOT NULL,
    tokenizer_key_end   TEXT    NOT NULL, -- last four characters; '' where no key is set
    UNIQUE (site_id, slug),
    UNIQUE (site_id, id, currencies),
    {{key}} (site_id, id)
);

-- The secrets by which a channel takes payments, sealed by a key that is not in the database and bound to their place,
-- so that a sealed text is good for nothing in another row.
CREATE TABLE channel_gateways (
    site_id       BIGINT NOT NULL,
    channel_id    BIGINT NOT NULL,
    credentials   TEXT   NOT NULL, -- of the processor, sealed; '' where none are set
    tokenizer_key TEXT   NOT NULL, -- sealed; '' where none is set
    PRIMARY KEY (site_id, channel_id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id) ON DELETE CASCADE
);

-- What a channel was called when, so that a report about a past moment keeps its bytes when a channel is renamed.
CREATE TABLE channel_names (
    site_id     BIGINT NOT NULL,
    id          {{serial}},
    channel_id  BIGINT NOT NULL,
    recorded_at BIGINT NOT NULL, -- called so from this instant on
    name        TEXT   NOT NULL,
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id) ON DELETE CASCADE
);
CREATE INDEX channel_names_by_channel ON channel_names (site_id, channel_id, recorded_at);

-- A supplier provides part of a trip (section 2.5).
CREATE TABLE suppliers (
    site_id     BIGINT NOT NULL REFERENCES sites (id),
    id          {{serial}},
    name        TEXT   NOT NULL,
    name_folded TEXT   NOT NULL, -- as of channels
    url         TEXT   NOT NULL,
    category    TEXT   NOT NULL, -- short code
    country     TEXT   NOT NULL, -- ISO 3166-1 alpha-2, '' where not known
    version     BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    modified_at BIGINT NOT NULL,
    {{key}} (site_id, id)
);

-- Suppliers that a channel works with.
CREATE TABLE channel_suppliers (
    site_id     BIGINT NOT NULL,
    channel_id  BIGINT NOT NULL,
    supplier_id BIGINT NOT NULL,
    PRIMARY KEY (site_id, channel_id, supplier_id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id) ON DELETE CASCADE,
    FOREIGN KEY (site_id, supplier_id) REFERENCES suppliers (site_id, id)
);

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
    payments        BIGINT  NOT NULL DEFAULT 0, -- how many purchases and captures took money
    total_changed   BOOLEAN NOT NULL DEFAULT FALSE, -- since the booking was made: booking_totals has what it was
    suppliers       TEXT    NOT NULL DEFAULT '', -- ids as in booking_suppliers, in order with commas
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

-- Reference rates in units per euro. A manual quote counts for the site whose operators agreed on it alone.
CREATE TABLE fixings (
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
    -- The policy in force on P when the allocation was recorded: a policy that is added later, from whatever day,
    -- changes nothing that was computed before.
    policy_id       BIGINT  NOT NULL,
    version         BIGINT  NOT NULL DEFAULT 0, -- taking it is the lock on the allocation's premium
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
    suppliers     TEXT   NOT NULL, -- of the booking, as ids in order with commas
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
CREATE INDEX allocation_events_by_transaction ON allocation_events (site_id, transaction_id, allocation_id);

-- Idempotency keys of requests that create something. A claim is taken before the work and finished in the same
-- transaction as the work.
CREATE TABLE idempotency_keys (
    site_id       BIGINT NOT NULL,
    user_id       BIGINT NOT NULL, -- two users may choose the same key
    key           TEXT   NOT NULL,
    request_hash  TEXT   NOT NULL, -- of route and body: the same key with another body is refused
    object_id     BIGINT,          -- what the request made; NULL while it is being answered
    proposal_id   BIGINT,          -- what it proposed instead, where another person has to agree
    claimed_until BIGINT NOT NULL, -- a claim whose process died can be taken over after this instant
    created_at    BIGINT NOT NULL, -- so that old keys can be forgotten
    PRIMARY KEY (site_id, user_id, key)
);

-- Due work of the program itself, one row for each kind.
CREATE TABLE jobs (
    name         TEXT   NOT NULL PRIMARY KEY,
    due_at       BIGINT NOT NULL, -- not before this instant
    leased_until BIGINT NOT NULL, -- taken by a process until this instant
    attempts     BIGINT NOT NULL, -- failed runs since the last good one
    last_error   TEXT   NOT NULL, -- of the last failed run
    last_run_at  BIGINT           -- of the last good run
);

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
-- Premium lines by when they were recorded, for the bordereau of a month; and those of a transaction.
CREATE INDEX premium_lines_by_recording ON premium_lines (site_id, recorded_at, id);
CREATE INDEX premium_lines_by_transaction ON premium_lines (site_id, transaction_id, id);

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

-- What of an allocation lies above a limit. The payment is protected all the same; the report says so. It can lie above
-- one limit and later above another of the same scope, and both stand.
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
    PRIMARY KEY (site_id, allocation_id, limit_id)
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
    noted_at   BIGINT NOT NULL, -- by the real clock: what is old is folded
    {{key}} (site_id, id)
);

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

-- Taking the row is the lock under which a site's deltas are folded. No payment touches it.
CREATE TABLE exposure_folds (
    site_id BIGINT NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL
);

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

-- A limit of transactions or bookings that is new or changed is judged by what exists, too: a job walks through the
-- allocations. A row is there until it is done; a limit from a later day waits for it.
CREATE TABLE limit_reviews (
    site_id   BIGINT NOT NULL,
    limit_id  BIGINT NOT NULL,
    walked_to BIGINT NOT NULL, -- the allocation that it has come to
    PRIMARY KEY (site_id, limit_id),
    FOREIGN KEY (site_id, limit_id) REFERENCES limits (site_id, id)
);

-- What a processor was asked to do for a transaction, and what is known of that. Written before the processor is called,
-- so that a call whose answer is lost, or whose caller dies, is found and asked about.
CREATE TABLE processings (
    site_id           BIGINT  NOT NULL,
    transaction_id    BIGINT  NOT NULL,
    channel_id        BIGINT  NOT NULL,
    operation         TEXT    NOT NULL, -- authorize, purchase, capture, refund or void
    reference         TEXT    NOT NULL UNIQUE, -- ours, by which the processor knows the request again
    processor         TEXT    NOT NULL, -- such as stripe
    live              BOOLEAN NOT NULL, -- real money; else the processor's test environment
    processor_id      TEXT    NOT NULL, -- the processor's own name of it; '' as long as it is not known
    original          TEXT    NOT NULL, -- processor_id of the charge that is adjusted; '' of a charge
    state             TEXT    NOT NULL, -- called, challenged, unknown, absent, settled or releasing
    reserved          BIGINT  NOT NULL, -- what of the original's remaining is kept for it, minor units; 0 once settled
    asked_for_at      BIGINT  NOT NULL, -- when the processor was called, by the real clock
    ask_at            BIGINT,           -- when to ask what became of it, by the real clock; NULL: nothing to ask
    asks              BIGINT  NOT NULL, -- in vain, so far
    return_key        TEXT    UNIQUE,   -- in the address to which a shopper comes back; NULL without 3DS
    challenge_type    TEXT    NOT NULL,
    challenge_value   TEXT    NOT NULL,
    decline           TEXT    NOT NULL, -- why money was refused, in our words
    code              TEXT    NOT NULL, -- the same in the processor's
    threeds_status    TEXT    NOT NULL,
    threeds_flow      TEXT    NOT NULL,
    threeds_eci       TEXT    NOT NULL,
    threeds_version   TEXT    NOT NULL,
    threeds_directory TEXT    NOT NULL, -- transaction id of the directory server
    liability_shift   BOOLEAN NOT NULL,
    PRIMARY KEY (site_id, transaction_id),
    FOREIGN KEY (site_id, transaction_id) REFERENCES transactions (site_id, id)
);
CREATE INDEX processings_due ON processings (ask_at) WHERE ask_at IS NOT NULL;
CREATE INDEX processings_by_name ON processings (site_id, channel_id, processor_id);

-- What processors said had happened. Nobody believes it: each is asked about, and kept so that it is asked about once.
CREATE TABLE processor_hints (
    site_id      BIGINT NOT NULL,
    channel_id   BIGINT NOT NULL,
    processor    TEXT   NOT NULL,
    event_id     TEXT   NOT NULL, -- the processor's, by which a repeated delivery is told
    reference    TEXT   NOT NULL, -- ours; '' where it was not said
    processor_id TEXT   NOT NULL, -- of the charge; '' where it was not said
    received_at  BIGINT NOT NULL, -- by the real clock
    ask_at       BIGINT,          -- by the real clock; NULL when it was asked about
    asks         BIGINT NOT NULL, -- in vain, so far
    PRIMARY KEY (site_id, channel_id, processor, event_id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id) ON DELETE CASCADE
);
CREATE INDEX processor_hints_due ON processor_hints (ask_at) WHERE ask_at IS NOT NULL;
CREATE INDEX processor_hints_done ON processor_hints (received_at) WHERE ask_at IS NULL;

-- How far the events of a channel's processor were read: the ones that no delivery came for are found there.
CREATE TABLE processor_feeds (
    site_id    BIGINT NOT NULL,
    channel_id BIGINT NOT NULL,
    processor  TEXT   NOT NULL,
    cursor     TEXT   NOT NULL, -- the processor's; '' before the first reading
    read_at    BIGINT NOT NULL, -- when to read next, by the real clock
    PRIMARY KEY (site_id, channel_id, processor),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id) ON DELETE CASCADE
);
CREATE INDEX processor_feeds_due ON processor_feeds (read_at);

-- How a chargeback stands: by hand of the operator, or as its processor tells.
CREATE TABLE disputes (
    site_id        BIGINT NOT NULL,
    transaction_id BIGINT NOT NULL, -- that is charged back
    chargeback_id  BIGINT NOT NULL, -- the transaction that records it
    reversal_id    BIGINT,          -- the one that records that the money came back; NULL: it did not
    processor_id   TEXT,            -- the processor's name of the dispute; NULL: recorded by hand
    outcome        TEXT   NOT NULL, -- pending, won or lost
    reason_code    TEXT   NOT NULL, -- the scheme's or processor's; '' where it was not said
    challenge_day  BIGINT,          -- until when it can be answered; NULL where it was not said
    PRIMARY KEY (site_id, chargeback_id),
    UNIQUE (site_id, transaction_id, processor_id),
    FOREIGN KEY (site_id, transaction_id) REFERENCES transactions (site_id, id),
    FOREIGN KEY (site_id, chargeback_id) REFERENCES transactions (site_id, id),
    FOREIGN KEY (site_id, reversal_id) REFERENCES transactions (site_id, id)
);

-- What the sandbox processor remembers. It stands for another company's memory, so it knows accounts instead of sites,
-- and nothing else in the database refers to it.
CREATE TABLE sandbox_charges (
    account     TEXT   NOT NULL, -- digest of the account's key
    reference   TEXT   NOT NULL, -- under which the charge was asked for
    version     BIGINT NOT NULL,
    entry       TEXT   NOT NULL, -- the charge and what was done to it, opaque to SQL
    dispute_at  BIGINT,          -- when the cardholder charges it back
    resolved_at BIGINT,          -- when the money comes back after that
    PRIMARY KEY (account, reference)
);
CREATE INDEX sandbox_charges_by_dispute ON sandbox_charges (account, dispute_at) WHERE dispute_at IS NOT NULL;
CREATE INDEX sandbox_charges_by_resolution ON sandbox_charges (account, resolved_at) WHERE resolved_at IS NOT NULL;

-- A use of the payment modal: what the auth string vouched for, and the booking that is paid.
CREATE TABLE modal_sessions (
    site_id    BIGINT  NOT NULL,
    id         {{serial}},
    channel_id BIGINT  NOT NULL,
    token_hash TEXT    NOT NULL UNIQUE, -- of the token by which the frame is known again
    auth_hash  TEXT    NOT NULL,        -- of the auth string, which may open several
    origin     TEXT    NOT NULL,        -- of the page
    verified   TEXT    NOT NULL,        -- JSON, opaque to SQL: the verified fields by name
    booking_id BIGINT,                  -- NULL as long as it is not known
    made       BOOLEAN NOT NULL,        -- whether the session made the booking
    created_at BIGINT  NOT NULL,        -- by the real clock, for what forgets old ones
    expires_at BIGINT  NOT NULL,        -- by the clock of the site
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id) ON DELETE CASCADE,
    FOREIGN KEY (site_id, booking_id) REFERENCES bookings (site_id, id)
);
CREATE INDEX modal_sessions_by_auth ON modal_sessions (site_id, auth_hash, booking_id);
CREATE INDEX modal_sessions_by_age ON modal_sessions (created_at);
CREATE INDEX modal_sessions_by_channel ON modal_sessions (site_id, channel_id);

-- A payment that was made in the payment modal. It outlives its session.
CREATE TABLE modal_payments (
    site_id        BIGINT NOT NULL,
    transaction_id BIGINT NOT NULL,
    booking_id     BIGINT NOT NULL,
    auth_hash      TEXT   NOT NULL, -- of the auth string: attempts are counted by booking and auth string
    allocations    TEXT   NOT NULL, -- JSON as it was verified, opaque to SQL; '' for none
    charge_channel BIGINT,          -- as it was verified; NULL for none
    PRIMARY KEY (site_id, transaction_id),
    FOREIGN KEY (site_id, transaction_id) REFERENCES transactions (site_id, id),
    FOREIGN KEY (site_id, booking_id) REFERENCES bookings (site_id, id)
);
CREATE INDEX modal_payments_by_booking ON modal_payments (site_id, booking_id, transaction_id);
