-- The schema of both engines. Differences are in double braces: see ddl in sqlite.go and postgres.go.
-- Instants are microseconds since 1970 in GMT, days are days since 1970, and amounts are minor units.
-- Tables are grouped by the package that owns them. The site comes first in the key of every table of a site, so that sites
-- can be spread over nodes; tables.go lists which tables those are.
-- Of two indexes that look alike, SQLite prefers the younger: the one that finds fewer rows comes later.

-- Sites, their clocks, and the basis of every package.

-- A site is a policyholder: an acquirer or a platform.
CREATE TABLE sites (
    id             {{serial}},
    path           TEXT    NOT NULL UNIQUE,       -- first segment of every address of the site
    name           TEXT    NOT NULL,              -- also the default receipt label of its channels
    sandbox        BOOLEAN NOT NULL,              -- since it was created, or never (R0)
    permitted_urls TEXT    NOT NULL,              -- JSON array of the origins on which the payment modal may open
    version        BIGINT  NOT NULL,              -- counts changes; taking it is the lock on the site
    created_at     BIGINT  NOT NULL,
    modified_at    BIGINT  NOT NULL,
    clock_ahead    BIGINT  NOT NULL DEFAULT 0,    -- of a sandbox's clock, in microseconds (R0); it moves forward only
    issuer         TEXT    NOT NULL DEFAULT '{}', -- JSON: who issues the statements and is paid
    policyholder   TEXT    NOT NULL DEFAULT '{}', -- JSON: whose policy it is
    {{key}} (id)
);
CREATE INDEX sites_ahead ON sites (id) WHERE clock_ahead > 0;

-- One row per site, on the node of the site. Statements over all sites start with this table, so that each node answers for its own
-- sites. The table sites is on every node.
CREATE TABLE site_places (
    site_id BIGINT NOT NULL PRIMARY KEY REFERENCES sites (id)
);

-- Former names of a site: a bordereau of the past shows the name of its time. until is by the site's clock.
CREATE TABLE site_names (
    site_id BIGINT NOT NULL REFERENCES sites (id),
    until   BIGINT NOT NULL,
    name    TEXT   NOT NULL,
    PRIMARY KEY (site_id, until)
);

-- Versions of data that rarely changes: the site, its channels, policies and limits.
-- Every change of one of these draws a new random version in the same write. Caches check the version first. Because
-- versions are random, one that was rolled back never comes again.
CREATE TABLE site_versions (
    site_id BIGINT NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL
);

-- The version of the rates of all sites, in the same way.
CREATE TABLE rate_versions (
    id      BIGINT NOT NULL PRIMARY KEY, -- always 0: there is one row
    version BIGINT NOT NULL
);

-- How the clocks of sandbox sites were moved. It maps times of the real clock (of fixings, logins) to a site's clock.
CREATE TABLE clock_moves (
    site_id  BIGINT NOT NULL REFERENCES sites (id),
    id       {{serial}},
    moved_at BIGINT NOT NULL, -- by the real clock
    ahead    BIGINT NOT NULL, -- from then on
    {{key}} (site_id, id)
);

-- The end of each site's audit chain; site 0 is the deployment, whose operators, keys and rates belong to no site. Updating the
-- row is the lock under which records get their places.
CREATE TABLE audit_heads (
    site_id BIGINT NOT NULL PRIMARY KEY,
    id      BIGINT NOT NULL, -- of the last record; 0: none yet
    hash    TEXT   NOT NULL  -- of the last record, so that cutting records off the end is seen
);

-- Who changed what (R0). Append-only; each record holds the hash of the one before, so that any change to a past record is detected.
CREATE TABLE audit_records (
    site_id       BIGINT NOT NULL, -- 0: the deployment itself
    id            BIGINT NOT NULL, -- counts from 1 without gaps in its site
    at            BIGINT NOT NULL, -- by the site's clock
    real_at       BIGINT NOT NULL, -- by the real clock, which cannot be moved
    user_id       BIGINT NOT NULL, -- 0: the program itself
    username      TEXT   NOT NULL, -- as it was then
    role          TEXT   NOT NULL,
    token_id      BIGINT NOT NULL, -- of the API token it came with; 0: none
    address       TEXT   NOT NULL, -- client address; '' on the command line
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
CREATE INDEX audit_records_by_user ON audit_records (site_id, username, id);
CREATE INDEX audit_records_by_object ON audit_records (site_id, object, id);

-- What needs two people (R0): one proposes, another decides.
CREATE TABLE proposals (
    site_id         BIGINT  NOT NULL REFERENCES sites (id),
    id              {{serial}},
    kind            TEXT    NOT NULL,            -- open_cover, manual_rate, policy, limits or takeover
    subject         TEXT    NOT NULL,            -- object of the change, such as channel 7 or a file by its hash
    payload         TEXT    NOT NULL,            -- JSON: the change to apply
    reason          TEXT    NOT NULL,            -- of the proposer
    state           TEXT    NOT NULL,            -- open, approved, rejected or withdrawn
    alone           BOOLEAN NOT NULL,            -- approved by the proposer: in a sandbox
    proposed_by_id  BIGINT  NOT NULL,            -- 0: the program itself
    proposed_by     TEXT    NOT NULL,
    proposed_at     BIGINT  NOT NULL,
    decided_by_id   BIGINT  NOT NULL,            -- 0: open, or the program itself
    decided_by      TEXT    NOT NULL,            -- '' while open
    decided_at      BIGINT,                      -- NULL while open
    decision_reason TEXT    NOT NULL,            -- of the approver
    result          TEXT    NOT NULL,            -- JSON: the result of the approved change; '' unless approved
    version         BIGINT  NOT NULL,            -- taking it is the lock on the proposal
    effect          TEXT    NOT NULL DEFAULT '', -- JSON: the fields that would change; '' if unknown
    {{key}} (site_id, id)
);
CREATE INDEX proposals_by_state ON proposals (site_id, state, id);
CREATE INDEX proposals_by_subject ON proposals (site_id, kind, subject, id);
-- What waits for an operator on any site, oldest first: there are never many.
CREATE INDEX proposals_open ON proposals (id) WHERE state = 'open';

-- Idempotency keys of the requests of a site, of any user.
CREATE TABLE idempotency_keys (
    site_id       BIGINT NOT NULL,
    key           TEXT   NOT NULL,
    request_hash  TEXT   NOT NULL, -- of method, address and body: the same key with another request is refused
    object_id     BIGINT,          -- the object that the request created, changed or deleted
    proposal_id   BIGINT,          -- the proposal instead, if another person must approve
    claimed_until BIGINT NOT NULL, -- of a row without an outcome: its key is held until then
    created_at    BIGINT NOT NULL, -- so that old keys can be forgotten
    PRIMARY KEY (site_id, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (site_id, created_at);

-- The last states of deleted objects, for requests that are repeated afterwards. They expire with the keys.
CREATE TABLE last_states (
    site_id    BIGINT NOT NULL,
    object     TEXT   NOT NULL, -- such as "supplier 7"
    state      TEXT   NOT NULL, -- JSON, without secrets
    deleted_at BIGINT NOT NULL,
    PRIMARY KEY (site_id, object)
);
CREATE INDEX last_states_by_age ON last_states (site_id, deleted_at);

-- Columns of secrets that hold no plain text any more. The program seals a column at its first start: the keys are not in the database.
CREATE TABLE sealed_columns (
    name      TEXT   NOT NULL PRIMARY KEY, -- table.column
    sealed_at BIGINT NOT NULL
);

-- Background jobs, one row each.
CREATE TABLE jobs (
    name         TEXT   NOT NULL PRIMARY KEY,
    due_at       BIGINT NOT NULL, -- not before this instant
    leased_until BIGINT NOT NULL, -- taken by a process until this instant
    attempts     BIGINT NOT NULL, -- failed runs since the last good one
    last_error   TEXT   NOT NULL, -- of the last failed run
    last_run_at  BIGINT           -- of the last good run
);

-- Whether the database takes writes, for /readyz: one row, rewritten at each try.
CREATE TABLE write_tries (
    name     TEXT      NOT NULL PRIMARY KEY,
    tried_at BIGINT    NOT NULL,
    filler   {{bytes}} NOT NULL -- as much as a small change of the book takes
);

-- People, and how they sign in (identity).

-- A person or machine of a customer or of the protection provider. Users are outside sites: one may serve many.
CREATE TABLE users (
    id                      {{serial}},
    username                TEXT    NOT NULL UNIQUE,     -- in lower case, because names are case-insensitive; with ~ and letters while it still has to be chosen
    email                   TEXT    NOT NULL,
    display_name            TEXT    NOT NULL,
    password_hash           TEXT    NOT NULL,            -- argon2id with its parameters
    operator                BOOLEAN NOT NULL,            -- the protection provider's own: all rights on all sites
    two_factor_secret       TEXT    NOT NULL,            -- TOTP secret, '' where none was begun
    two_factor_confirmed_at BIGINT,                      -- NULL until the user has shown a code once
    two_factor_last_step    BIGINT  NOT NULL,            -- a code counts once: later steps only
    refresh_generation      BIGINT  NOT NULL,            -- older refresh tokens are invalid
    refresh_began_at        BIGINT  NOT NULL,            -- the refresh token of a generation is always the same text
    created_at              BIGINT  NOT NULL,
    modified_at             BIGINT  NOT NULL,
    proven                  BOOLEAN NOT NULL DEFAULT TRUE, -- only the owner of the e-mail address can have opened the account
    {{key}} (id)
);
CREATE INDEX users_by_email ON users (lower(email), id);

-- One-time codes that replace a lost second factor.
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
    accepted            BOOLEAN NOT NULL, -- false until the user accepts the invitation
    created_at          BIGINT  NOT NULL,
    PRIMARY KEY (site_id, user_id)
);
CREATE INDEX memberships_by_user ON memberships (user_id, site_id);

-- API tokens: two per site, expired ones included. A token ends with the access of its creator, for good.
CREATE TABLE api_tokens (
    site_id      BIGINT NOT NULL REFERENCES sites (id),
    id           {{serial}},
    user_id      BIGINT NOT NULL REFERENCES users (id), -- the creator, as whom it acts
    name         TEXT   NOT NULL,
    secret_hash  TEXT   NOT NULL,                       -- sha256: the secret is long and random, so a slow hash would add nothing
    expires_at   BIGINT,                                -- NULL: never
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    abilities    TEXT   NOT NULL DEFAULT '',            -- names, comma-separated; '' for all
    addresses    TEXT   NOT NULL DEFAULT '',            -- networks it may be used from, space-separated; '' for any
    {{key}} (site_id, id)
);
-- A token begins with its id, of whatever site it is.
CREATE INDEX api_tokens_by_id ON api_tokens (id);

-- When an API token was used last, written at most once a minute, after the request. A table of its own, on the node of the site: it is written often.
CREATE TABLE token_uses (
    site_id  BIGINT NOT NULL,
    token_id BIGINT NOT NULL,
    used_at  BIGINT NOT NULL,
    PRIMARY KEY (site_id, token_id),
    FOREIGN KEY (site_id, token_id) REFERENCES api_tokens (site_id, id) ON DELETE CASCADE
);

-- Keys that sign JWTs. A retired key signs nothing more but still verifies, so that rotation signs no one out.
CREATE TABLE jwt_keys (
    id         TEXT   NOT NULL PRIMARY KEY, -- the kid in the header of the JWT
    secret     TEXT   NOT NULL,             -- hex
    created_at BIGINT NOT NULL,
    retired_at BIGINT                       -- NULL while it signs
);

-- Failed logins per account and per address: guessing is slowed whichever instance is asked.
CREATE TABLE login_attempts (
    subject       TEXT   NOT NULL PRIMARY KEY, -- account:NAME or address:IP
    failures      BIGINT NOT NULL,             -- since the last success
    blocked_until BIGINT NOT NULL,             -- no attempt is judged before this instant
    last_at       BIGINT NOT NULL              -- so that old rows can be forgotten
);

-- Rotating refresh tokens that came from one login (decision 0007). Without the row, all tokens of the family are dead.
CREATE TABLE refresh_families (
    user_id    BIGINT NOT NULL REFERENCES users (id),
    id         TEXT   NOT NULL, -- SHA-256 of a random text that its refresh tokens alone have
    number     BIGINT NOT NULL, -- of the present refresh token; each older one was used
    rotated_at BIGINT NOT NULL, -- when the present one was issued
    PRIMARY KEY (user_id, id)
);

-- Dashboard sessions, one row per browser.
CREATE TABLE sign_ins (
    user_id    BIGINT NOT NULL REFERENCES users (id),
    id         TEXT   NOT NULL, -- SHA-256 of the random text that its cookie has
    generation BIGINT NOT NULL, -- of the user's refresh tokens when it began: it ends with them
    began_at   BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL, -- the last request, to the minute
    proven_at  BIGINT NOT NULL, -- when the password was given last
    address    TEXT   NOT NULL,
    browser    TEXT   NOT NULL, -- the User-Agent, cut
    PRIMARY KEY (user_id, id)
);
CREATE INDEX sign_ins_seen ON sign_ins (seen_at);

-- One-time links to choose a password, accept an invitation or confirm an e-mail address. A row is an open link.
CREATE TABLE password_links (
    user_id BIGINT NOT NULL REFERENCES users (id),
    hash    TEXT   NOT NULL,            -- SHA-256 of the secret in the link
    secret  TEXT   NOT NULL,            -- sealed: the mail that has the link is made when it is sent
    kind    TEXT   NOT NULL,            -- invitation, access, reset or address
    site_id BIGINT NOT NULL,            -- of an invitation; 0: of no site
    made_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    address TEXT   NOT NULL DEFAULT '', -- of kind address: the new e-mail address
    PRIMARY KEY (user_id, hash)
);
CREATE UNIQUE INDEX password_links_by_hash ON password_links (hash);
CREATE INDEX password_links_ended ON password_links (ends_at);

-- Requested password resets, with and without an account. A job answers them.
CREATE TABLE password_asks (
    name     TEXT   NOT NULL PRIMARY KEY, -- a user name or an e-mail address, in lower case
    address  TEXT   NOT NULL,             -- of the client
    asked_at BIGINT NOT NULL
);
CREATE INDEX password_asks_in_turn ON password_asks (asked_at);

-- Merchants, and the policies of sites with the protection provider (merchants).

-- A channel is one merchant of a site.
CREATE TABLE channels (
    site_id             BIGINT  NOT NULL REFERENCES sites (id),
    id                  {{serial}},
    uuid                TEXT    NOT NULL,
    name                TEXT    NOT NULL,
    name_folded         TEXT    NOT NULL,                -- in lower case by the program: engines only fold the letters of their locale
    slug                TEXT    NOT NULL,                -- made from the first name; stays when the name changes
    account_type        TEXT    NOT NULL,                -- decides, with the mode, which payments are protected
    account_mode        TEXT    NOT NULL,
    was_test            BOOLEAN NOT NULL,                -- created for tests: its payments stay simulated
    protection_type     TEXT    NOT NULL,
    currencies          TEXT    NOT NULL,                -- base currency; bookings refer to it, so it cannot change under them
    language            TEXT    NOT NULL,
    primary_mail        TEXT    NOT NULL,                -- comma-separated addresses
    mail_bcc            BOOLEAN NOT NULL,                -- BCC mail receipts to primary_mail
    receipt_label       TEXT    NOT NULL,
    external_id         TEXT    NOT NULL,                -- the caller's identifier, not unique
    status_override     TEXT    NOT NULL,                -- channel_status set by the operator; '' lets it follow the mode
    statement_period    TEXT    NOT NULL,
    locked              BOOLEAN NOT NULL,                -- nothing logged while locked is protected (R2)
    lock_reason         TEXT    NOT NULL DEFAULT '',     -- '' if it is not locked or none was given
    secret              TEXT    NOT NULL,                -- signs requests of the payment modal and the hash of transactions
    version             BIGINT  NOT NULL,                -- counts changes; the ETag
    created_at          BIGINT  NOT NULL,
    modified_at         BIGINT  NOT NULL,
    cardholder_present  BOOLEAN NOT NULL,
    mail_failures       BOOLEAN NOT NULL,
    server_to_server    BOOLEAN NOT NULL,
    chargeback_mail     TEXT    NOT NULL,                -- comma-separated addresses
    beneficiary_id      TEXT    NOT NULL,
    settlement_currency TEXT    NOT NULL,                -- '' follows the base currency
    payout_minimum      BIGINT  NOT NULL,                -- minor units of the settlement currency
    descriptor          TEXT    NOT NULL,                -- on the cardholder's statement
    -- How it reaches processor and tokenizer; the secrets are in channel_gateways.
    processor           TEXT    NOT NULL,                -- such as stripe; '' where none is set
    tokenizer_id        TEXT    NOT NULL,
    tokenizer_key_end   TEXT    NOT NULL,                -- last four characters; '' where no key is set
    other_protection    TEXT    NOT NULL DEFAULT 'none', -- of the traveller: none, bond, trust_account, insurance or scheme
    authorisation_days  BIGINT  NOT NULL DEFAULT 7,      -- how long an authorisation can be captured
    insolvency_id       BIGINT  NOT NULL DEFAULT 0,      -- the latest confirmed insolvency (R13); 0: none
    insolvent_from      BIGINT,                          -- its trigger; NULL: none
    insolvent_since     BIGINT,                          -- when it was confirmed
    reinstated_at       BIGINT,                          -- NULL while it is insolvent
    insolvent_processing   BOOLEAN NOT NULL DEFAULT FALSE,  -- refunds at the processor were approved in spite of it
    UNIQUE (site_id, uuid),
    UNIQUE (site_id, slug),
    UNIQUE (site_id, id, currencies),
    {{key}} (site_id, id)
);

-- Secrets a channel takes payments with, sealed by a key outside the database and bound to their row.
CREATE TABLE channel_gateways (
    site_id       BIGINT NOT NULL,
    channel_id    BIGINT NOT NULL,
    credentials   TEXT   NOT NULL, -- of the processor, sealed; '' where none are set
    tokenizer_key TEXT   NOT NULL, -- sealed; '' where none is set
    PRIMARY KEY (site_id, channel_id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id) ON DELETE CASCADE
);

-- What a channel was called when: a report about a past moment keeps its bytes when a channel is renamed.
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

-- Since when card payments of a channel are protected, or not (R2). E4 counts the bookings of channels protected that day (R7).
CREATE TABLE channel_protection (
    site_id     BIGINT  NOT NULL,
    id          {{serial}},
    channel_id  BIGINT  NOT NULL,
    recorded_at BIGINT  NOT NULL, -- so from this instant on
    protected   BOOLEAN NOT NULL,
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id) ON DELETE CASCADE
);
CREATE INDEX channel_protection_by_channel ON channel_protection (site_id, channel_id, recorded_at);

-- A supplier provides part of a trip.
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

-- Policies of a site with the protection provider, dated: an earlier day is judged by the policy of that day.
CREATE TABLE policies (
    site_id             BIGINT  NOT NULL REFERENCES sites (id),
    id                  {{serial}},
    from_day            BIGINT  NOT NULL, -- in force until the next one
    recorded_at         BIGINT  NOT NULL, -- for reports as known at an earlier time
    currency            TEXT    NOT NULL, -- policy currency Q (R9)
    recognition         TEXT    NOT NULL, -- end_date, start_date or linear (R4)
    late_log_days       BIGINT  NOT NULL, -- a payment logged later than this is flagged (R2)
    max_fixing_age_days BIGINT  NOT NULL, -- an older fixing does not price (R9)
    premium_refundable  BOOLEAN NOT NULL, -- whether it knows return premium (R10)
    minimum_per_line    BIGINT  NOT NULL, -- minor units of currency, wherever there is any premium (R10)
    minimum_per_month   BIGINT  NOT NULL, -- minor units of currency, a line of the statement (R10)
    tax_codes           TEXT    NOT NULL, -- JSON: [{code, rate_ppm, label}], in the order of the statement
    statement_period    TEXT    NOT NULL, -- of new channels, until they are given their own
    payment_terms_days  BIGINT  NOT NULL, -- business days until a statement is due (R11)
    deductible          BIGINT  NOT NULL, -- of each insolvency, minor units of currency, as all amounts of the cover (R13)
    coinsurance_ppm     BIGINT  NOT NULL, -- of the amount above the deductible
    merchant_limit      BIGINT  NOT NULL, -- of each insolvency; 0: none, as for all amounts of the cover
    aggregate_limit     BIGINT  NOT NULL, -- of all insolvencies of a year of account
    notify_within       BIGINT  NOT NULL, -- months after the trigger
    two_signatures      BIGINT  NOT NULL, -- the covered amount above which a claim needs two approvals
    development_ppm     BIGINT  NOT NULL, -- the share of undisputed amounts that is expected to be disputed
    protected_first     TEXT    NOT NULL, -- JSON: kinds of other protection that pay first
    recovery_order      TEXT    NOT NULL, -- JSON: deductible, insurer and site in their order
    {{key}} (site_id, id)
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

-- The contract with the underwriter, as bordereaux state it. Rows are added and never changed; of two from the same day the later
-- one counts.
CREATE TABLE contracts (
    site_id         BIGINT NOT NULL REFERENCES sites (id),
    id              {{serial}},
    from_day        BIGINT NOT NULL,
    reference       TEXT   NOT NULL, -- such as the UMR
    year_of_account BIGINT NOT NULL, -- 0: none
    commission_ppm  BIGINT NOT NULL, -- of the net premium
    recorded_at     BIGINT NOT NULL,
    recorded_by     TEXT   NOT NULL,
    {{key}} (site_id, id)
);
CREATE INDEX contracts_by_day ON contracts (site_id, from_day, recorded_at, id);

-- Bookings (bookings).

-- A booking is a trip with a total cost. Amounts are minor units of currencies.
CREATE TABLE bookings (
    site_id          BIGINT    NOT NULL,
    id               {{serial}},
    uuid             TEXT      NOT NULL,
    channel_id       BIGINT    NOT NULL,
    author_id        BIGINT    NOT NULL,               -- 0: the program itself
    author           TEXT      NOT NULL,               -- user name at the time
    author_name      TEXT      NOT NULL,               -- display name at the time
    content          TEXT      NOT NULL,
    firstname        TEXT      NOT NULL,
    surname          TEXT{{bytewise}} NOT NULL,
    email            TEXT{{bytewise}} NOT NULL,
    start_day        BIGINT,                           -- NULL where only the end is known
    end_day          BIGINT    NOT NULL,               -- D of R4
    pax              BIGINT    NOT NULL,               -- 0 where not given
    reference        TEXT{{bytewise}} NOT NULL,               -- the caller's, not unique
    total            BIGINT    NOT NULL,
    currencies       TEXT      NOT NULL,
    country          TEXT      NOT NULL,
    language         TEXT      NOT NULL,
    modal_draft      BOOLEAN   NOT NULL,               -- made by the payment modal, and no payment attempted yet
    net              BIGINT    NOT NULL,               -- completed purchases and captures less refunds
    held             BIGINT    NOT NULL,               -- amount that counts against the total, including open authorisations
    open_authorised  BIGINT    NOT NULL,               -- amount that can still be captured
    locked_payments  BIGINT    NOT NULL,               -- number of payments that are charged back
    payments         BIGINT    NOT NULL DEFAULT 0,     -- number of completed purchases and captures
    total_changed    BOOLEAN   NOT NULL DEFAULT FALSE, -- since the booking was created: booking_totals has the earlier totals
    suppliers        TEXT      NOT NULL DEFAULT '',    -- ids of booking_suppliers, sorted, comma-separated
    status           TEXT      NOT NULL,               -- StoredStatus: without the state of the channel and the day, for lists by status
    deleted          BOOLEAN   NOT NULL,               -- in the trash: as if it did not exist
    import_key       TEXT,                             -- natural key of an imported booking
    version          BIGINT    NOT NULL,               -- counts changes; the ETag; taking it is the lock on the booking
    created_at       BIGINT    NOT NULL,
    modified_at      BIGINT    NOT NULL,
    outstanding      TEXT      NOT NULL DEFAULT '',    -- by day, for E4 (R7), so that a payment need not read the earlier ones
    other_protection TEXT      NOT NULL DEFAULT '',    -- '' for the channel's
    digest           {{bytes}} NOT NULL DEFAULT '',    -- of the columns that change only together with it
    completed        BOOLEAN   NOT NULL DEFAULT FALSE, -- booking.completed was recorded
    UNIQUE (site_id, uuid),
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
CREATE INDEX bookings_by_modified ON bookings (site_id, modified_at, id);
CREATE INDEX bookings_to_complete ON bookings (site_id, end_day) WHERE status = 'paid' AND NOT completed;
CREATE INDEX bookings_above_total ON bookings (site_id, id) WHERE net > total;
-- The trash: lists skip the bookings before a page without reading them.
CREATE INDEX bookings_deleted ON bookings (site_id, id) WHERE deleted;
-- Only imported rows have an import key.
CREATE UNIQUE INDEX bookings_by_import_key ON bookings (site_id, channel_id, import_key)
    WHERE import_key IS NOT NULL;

-- Suppliers included in a booking.
CREATE TABLE booking_suppliers (
    site_id     BIGINT NOT NULL,
    booking_id  BIGINT NOT NULL,
    supplier_id BIGINT NOT NULL,
    PRIMARY KEY (site_id, booking_id, supplier_id),
    FOREIGN KEY (site_id, booking_id) REFERENCES bookings (site_id, id),
    FOREIGN KEY (site_id, supplier_id) REFERENCES suppliers (site_id, id)
);

-- Payments (payments).

-- A payment, or an adjustment of an earlier one. Never changed by a client, never deleted.
CREATE TABLE transactions (
    site_id            BIGINT    NOT NULL,
    id                 {{serial}},
    uuid               TEXT      NOT NULL,
    channel_id         BIGINT    NOT NULL,
    author_id          BIGINT    NOT NULL,
    author             TEXT      NOT NULL,
    author_name        TEXT      NOT NULL,
    type               TEXT      NOT NULL,            -- purchase, authorize, capture, refund, void, chargeback, chargeback-reversal, prevented
    status             TEXT      NOT NULL,
    currencies         TEXT      NOT NULL,            -- payment currency
    total              BIGINT    NOT NULL,            -- minor units of it
    remaining          BIGINT    NOT NULL,            -- part of total that can still be refunded, captured or voided
    base_currency      TEXT      NOT NULL,
    base_total         BIGINT    NOT NULL,            -- sum of the payments, minor units of base_currency
    forex_rate         TEXT      NOT NULL,            -- as the caller converted, eight decimals; '' for one currency
    flags              TEXT      NOT NULL,            -- comma-separated words that a reader should see
    psp                TEXT      NOT NULL,
    method             TEXT      NOT NULL,            -- credit-card or bank-transfer
    payee_name         TEXT      NOT NULL,
    payee_surname      TEXT      NOT NULL,
    payee_email        TEXT      NOT NULL,
    country            TEXT      NOT NULL,
    reference          TEXT,                          -- the caller's payment reference; NULL where none was given
    token              TEXT      NOT NULL,
    ip_address         TEXT      NOT NULL,
    bin_number         TEXT      NOT NULL,
    last_four          TEXT      NOT NULL,
    card_type          TEXT      NOT NULL,
    auth_code          TEXT      NOT NULL,
    attempt_3ds        BOOLEAN   NOT NULL,
    redirect_url       TEXT      NOT NULL,            -- where the shopper lands after 3DS
    linked_id          BIGINT,                        -- the transaction that this one adjusts
    content            TEXT      NOT NULL,            -- outcome message
    content_hash       TEXT      NOT NULL,            -- of the caller's fields, to distinguish a repetition from a reused reference
    import_key         TEXT,                          -- natural key of an imported payment
    simulated          BOOLEAN   NOT NULL,            -- of a test channel: outside every total
    effective_at       BIGINT    NOT NULL,            -- when the payment was taken
    capture_by         BIGINT    NOT NULL DEFAULT 0,  -- when an authorisation expires; otherwise 0
    version            BIGINT    NOT NULL,            -- updating it locks remaining
    created_at         BIGINT    NOT NULL,            -- when it was learned: recorded_at of R0
    modified_at        BIGINT    NOT NULL,
    acquirer_reference TEXT      NOT NULL DEFAULT '', -- the ARN, 23 digits; matches chargebacks with payments (R14)
    digest             {{bytes}} NOT NULL DEFAULT '', -- of the columns that never change
    processor_reference TEXT     NOT NULL DEFAULT '', -- the processor's own id of this movement; not unique (R14)
    protected          BOOLEAN   NOT NULL DEFAULT FALSE, -- of a purchase or capture: the decision of its allocations (R2)
    protection_reason  TEXT      NOT NULL DEFAULT '', -- of that decision; '' where none was made
    UNIQUE (site_id, uuid),
    UNIQUE (site_id, channel_id, psp, reference),
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id),
    FOREIGN KEY (site_id, linked_id) REFERENCES transactions (site_id, id)
);
CREATE INDEX transactions_by_channel ON transactions (site_id, channel_id, id);
CREATE INDEX transactions_by_email ON transactions (site_id, payee_email, id);
CREATE INDEX transactions_by_reference ON transactions (site_id, reference, id);
CREATE INDEX transactions_by_created ON transactions (site_id, created_at, id);
-- Open authorisations by age, for the job that lets them expire.
CREATE INDEX transactions_open ON transactions (capture_by)
    WHERE type = 'authorize' AND status = 'complete' AND remaining > 0;
-- For the filters of lists. Most leave out the most common value, or rows without one.
CREATE INDEX transactions_by_currency ON transactions (site_id, currencies, id) WHERE currencies <> '';
CREATE INDEX transactions_by_country ON transactions (site_id, country, id) WHERE country <> '';
CREATE INDEX transactions_by_card_type ON transactions (site_id, card_type, id) WHERE card_type <> '';
CREATE INDEX transactions_by_psp ON transactions (site_id, psp, id) WHERE psp <> '';
CREATE INDEX transactions_by_method ON transactions (site_id, method, id) WHERE method <> 'credit-card';
CREATE INDEX transactions_by_type ON transactions (site_id, type, id) WHERE type <> 'purchase';
CREATE INDEX transactions_by_status ON transactions (site_id, status, id) WHERE status <> 'complete';
CREATE INDEX transactions_by_bin ON transactions (site_id, bin_number, id) WHERE bin_number <> '';
CREATE INDEX transactions_by_last_four ON transactions (site_id, last_four, id) WHERE last_four <> '';
CREATE INDEX transactions_by_surname ON transactions (site_id, payee_surname, id) WHERE payee_surname <> '';
CREATE INDEX transactions_by_auth_code ON transactions (site_id, auth_code, id) WHERE auth_code <> '';
CREATE INDEX transactions_by_acquirer_reference ON transactions (site_id, acquirer_reference, id)
    WHERE acquirer_reference <> '';
CREATE INDEX transactions_by_processor_reference ON transactions (site_id, processor_reference, id)
    WHERE processor_reference <> '';
-- Payments that are not protected, or not decided yet, and all adjustments.
CREATE INDEX transactions_unprotected ON transactions (site_id, id) WHERE NOT protected;
CREATE INDEX transactions_by_flags ON transactions (site_id, id) WHERE flags <> '';
CREATE INDEX transactions_by_channel_flags ON transactions (site_id, channel_id, id) WHERE flags <> '';
CREATE INDEX transactions_by_modified ON transactions (site_id, modified_at, id);
-- A read of a site's payments first ends its expired authorisations.
CREATE INDEX transactions_open_of_site ON transactions (site_id, type, status, capture_by)
    WHERE type = 'authorize' AND status = 'complete' AND remaining > 0;
-- The monthly turnover of a channel, for the model (R7), read from the index alone. SQLite needs the columns of the condition,
-- too.
CREATE INDEX transactions_turnover ON transactions (site_id, channel_id, effective_at, created_at, type, status, base_total, method, simulated)
    WHERE method = 'credit-card' AND NOT simulated;
CREATE INDEX transactions_by_linked ON transactions (site_id, linked_id, id) WHERE linked_id IS NOT NULL;
CREATE UNIQUE INDEX transactions_by_import_key ON transactions (site_id, channel_id, import_key)
    WHERE import_key IS NOT NULL;

-- The part of a transaction that belongs to one booking.
CREATE TABLE payments (
    site_id        BIGINT    NOT NULL,
    id             {{serial}},
    transaction_id BIGINT    NOT NULL,
    channel_id     BIGINT    NOT NULL,
    booking_id     BIGINT    NOT NULL,
    currencies     TEXT      NOT NULL, -- base currency
    total          BIGINT    NOT NULL,
    remaining      BIGINT    NOT NULL, -- of an original payment: amount that can still be refunded, captured or voided
    linked_id      BIGINT,             -- the payment of the original transaction that this one adjusts
    created_at     BIGINT    NOT NULL,
    digest         {{bytes}} NOT NULL DEFAULT '',
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, transaction_id) REFERENCES transactions (site_id, id),
    FOREIGN KEY (site_id, booking_id) REFERENCES bookings (site_id, id),
    FOREIGN KEY (site_id, linked_id) REFERENCES payments (site_id, id)
);
CREATE INDEX payments_by_transaction ON payments (site_id, transaction_id, id);
CREATE INDEX payments_by_booking ON payments (site_id, booking_id, transaction_id);
CREATE INDEX payments_by_linked ON payments (site_id, linked_id) WHERE linked_id IS NOT NULL;

-- A request to a processor for a transaction, and its state. Written before the processor is called, so that
-- a call whose answer is lost, or whose caller dies, is found and looked up.
CREATE TABLE gateway_charges (
    site_id           BIGINT  NOT NULL,
    transaction_id    BIGINT  NOT NULL,
    channel_id        BIGINT  NOT NULL,
    operation         TEXT    NOT NULL,        -- authorize, purchase, capture, refund or void
    reference         TEXT    NOT NULL, -- ours; the idempotency key at the processor
    processor         TEXT    NOT NULL,        -- such as stripe
    live              BOOLEAN NOT NULL,        -- real money; else the processor's test environment
    processor_id      TEXT    NOT NULL,        -- the processor's id; '' while unknown
    original          TEXT    NOT NULL,        -- processor_id of the charge that is adjusted; '' of a charge
    state             TEXT    NOT NULL,        -- called, challenged, unknown, absent, settled or releasing
    reserved          BIGINT  NOT NULL,        -- amount reserved from the original's remaining, minor units; 0 once settled
    asked_for_at      BIGINT  NOT NULL,        -- when the processor was called, by the real clock
    ask_at            BIGINT,                  -- when to query its state, by the real clock; NULL: no query needed
    asks              BIGINT  NOT NULL,        -- queries without a result so far
    return_key        TEXT,                    -- in the URL to which the shopper returns; NULL without 3DS
    challenge_type    TEXT    NOT NULL,
    challenge_value   TEXT    NOT NULL,
    decline           TEXT    NOT NULL,        -- why money was refused, in our words
    code              TEXT    NOT NULL,        -- the same in the processor's
    threeds_status    TEXT    NOT NULL,
    threeds_flow      TEXT    NOT NULL,
    threeds_eci       TEXT    NOT NULL,
    threeds_version   TEXT    NOT NULL,
    threeds_directory TEXT    NOT NULL,        -- transaction id of the directory server
    liability_shift   BOOLEAN NOT NULL,
    UNIQUE (site_id, return_key),
    UNIQUE (site_id, reference),
    PRIMARY KEY (site_id, transaction_id),
    FOREIGN KEY (site_id, transaction_id) REFERENCES transactions (site_id, id)
);
CREATE INDEX gateway_charges_due ON gateway_charges (ask_at) WHERE ask_at IS NOT NULL;
CREATE INDEX gateway_charges_by_processor_id ON gateway_charges (site_id, channel_id, processor_id);

-- A payment made in the payment modal. It outlives its session.
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

-- What processors report (processors).

-- Events that processors delivered. They are not trusted: the processor is asked about each, and the row makes sure it is asked
-- about once.
CREATE TABLE processor_notices (
    site_id      BIGINT NOT NULL,
    channel_id   BIGINT NOT NULL,
    processor    TEXT   NOT NULL,
    event_id     TEXT   NOT NULL, -- the processor's: identifies repeated deliveries
    reference    TEXT   NOT NULL, -- ours; '' if not reported
    processor_id TEXT   NOT NULL, -- of the charge; '' if not reported
    received_at  BIGINT NOT NULL, -- by the real clock
    ask_at       BIGINT,          -- by the real clock; NULL when it was asked about
    asks         BIGINT NOT NULL, -- queries without a result so far
    PRIMARY KEY (site_id, channel_id, processor, event_id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id) ON DELETE CASCADE
);
CREATE INDEX processor_notices_due ON processor_notices (ask_at) WHERE ask_at IS NOT NULL;
CREATE INDEX processor_notices_done ON processor_notices (site_id, received_at) WHERE ask_at IS NULL;

-- How far a channel's events at its processor were read: this finds the events that were never delivered.
CREATE TABLE processor_events (
    site_id    BIGINT NOT NULL,
    channel_id BIGINT NOT NULL,
    processor  TEXT   NOT NULL,
    cursor     TEXT   NOT NULL, -- the processor's; '' before the first reading
    read_at    BIGINT NOT NULL, -- when to read next, by the real clock
    PRIMARY KEY (site_id, channel_id, processor),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id) ON DELETE CASCADE
);
CREATE INDEX processor_events_due ON processor_events (read_at);

-- The state of the sandbox processor. It represents another company's database, so it knows accounts instead of sites, and
-- nothing else refers to it.
CREATE TABLE sandbox_charges (
    account     TEXT   NOT NULL, -- digest of the account's key
    reference   TEXT   NOT NULL, -- of the request for the charge
    version     BIGINT NOT NULL,
    entry       TEXT   NOT NULL, -- the charge with its history, opaque to SQL
    dispute_at  BIGINT,          -- when the cardholder charges it back
    resolved_at BIGINT,          -- when the money comes back after that
    PRIMARY KEY (account, reference)
);
CREATE INDEX sandbox_charges_by_dispute ON sandbox_charges (account, dispute_at) WHERE dispute_at IS NOT NULL;
CREATE INDEX sandbox_charges_by_resolution ON sandbox_charges (account, resolved_at)
    WHERE resolved_at IS NOT NULL;

-- The payment modal (checkout).

-- A session of the payment modal: the fields signed by the auth string, and the booking to pay.
CREATE TABLE modal_sessions (
    site_id    BIGINT  NOT NULL,
    id         {{serial}},
    channel_id BIGINT  NOT NULL,
    token_hash TEXT    NOT NULL, -- of the token that identifies the frame
    auth_hash  TEXT    NOT NULL,        -- of the auth string, which may open several
    origin     TEXT    NOT NULL,        -- of the page
    verified   TEXT    NOT NULL,        -- JSON, opaque to SQL: the verified fields by name
    booking_id BIGINT,                  -- NULL while unknown
    made       BOOLEAN NOT NULL,        -- whether the session made the booking
    created_at BIGINT  NOT NULL,        -- by the real clock, for the deletion of old sessions
    expires_at BIGINT  NOT NULL,        -- by the clock of the site
    UNIQUE (site_id, token_hash),
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id) ON DELETE CASCADE,
    FOREIGN KEY (site_id, booking_id) REFERENCES bookings (site_id, id)
);
CREATE INDEX modal_sessions_by_auth ON modal_sessions (site_id, auth_hash, booking_id);
CREATE INDEX modal_sessions_by_age ON modal_sessions (site_id, created_at);
CREATE INDEX modal_sessions_by_channel ON modal_sessions (site_id, channel_id);

-- Protection, premium and exposure (ledger).

-- An allocation is the part of a purchase or capture for one booking, the unit of protection (R3). It is decided
-- once, when the payment is recorded, and never changes except for its price, which may wait for a rate.
CREATE TABLE allocations (
    site_id         BIGINT    NOT NULL,
    id              BIGINT    NOT NULL,               -- the id of its payment
    channel_id      BIGINT    NOT NULL,
    booking_id      BIGINT    NOT NULL,
    transaction_id  BIGINT    NOT NULL,
    currency        TEXT      NOT NULL,               -- K of R9
    amount          BIGINT    NOT NULL,               -- a of R3
    scheme          TEXT      NOT NULL,               -- R5
    effective_at    BIGINT    NOT NULL,               -- when the payment was taken; its day is P
    recorded_at     BIGINT    NOT NULL,
    protected       BOOLEAN   NOT NULL,
    reason          TEXT      NOT NULL,               -- why, or why not (R2)
    simulated       BOOLEAN   NOT NULL,               -- of a test channel: outside every total
    late_logged     BOOLEAN   NOT NULL,
    cover_from      BIGINT    NOT NULL,               -- cover start; of an unprotected allocation, the start it would have had
    rulepack        TEXT      NOT NULL,               -- version of the dispute windows that the last days follow
    policy_currency TEXT      NOT NULL,               -- Q of R9
    max_fixing_age  BIGINT    NOT NULL,               -- the policy's, in days, on the day it was recorded
    priced_at       BIGINT,                           -- NULL while pending_rate
    value           BIGINT,                           -- PV of the amount, minor units of policy_currency; NULL while pending_rate
    from_provider   TEXT      NOT NULL,               -- leg of currency: provider, day and rate of its fixing; '' for EUR and for Q
    from_day        BIGINT,
    from_rate       TEXT      NOT NULL,
    to_provider     TEXT      NOT NULL,               -- leg of policy_currency
    to_day          BIGINT,
    to_rate         TEXT      NOT NULL,
    -- The policy in force on P when the allocation was recorded: a policy that is added later, from whatever day,
    -- changes nothing that was computed before.
    policy_id       BIGINT    NOT NULL,
    version         BIGINT    NOT NULL DEFAULT 0,     -- taking it is the lock on the allocation's premium
    digest          {{bytes}} NOT NULL DEFAULT '',
    ends_after      BIGINT    NOT NULL DEFAULT 0,     -- last day of dispute of its latest terms
    ended           BOOLEAN   NOT NULL DEFAULT TRUE,  -- never protected, or protection.ended was recorded
    closed          BOOLEAN   NOT NULL DEFAULT FALSE, -- the last day of dispute and the trip are over
    PRIMARY KEY (site_id, id),
    FOREIGN KEY (site_id, id) REFERENCES payments (site_id, id)
);
CREATE INDEX allocations_by_booking ON allocations (site_id, booking_id, id);
CREATE INDEX allocations_by_transaction ON allocations (site_id, transaction_id, id);
CREATE INDEX allocations_pending ON allocations (site_id, id) WHERE priced_at IS NULL;
-- Allocations that take effect between two days, for movements.
CREATE INDEX allocations_by_effect ON allocations (site_id, effective_at);
CREATE INDEX allocations_to_end ON allocations (site_id, ends_after) WHERE NOT ended;
-- Lists of amounts at risk only read open allocations, not those of past years.
CREATE INDEX allocations_open ON allocations (site_id, closed, booking_id, id, channel_id)
    WHERE closed = FALSE;

-- What of an allocation follows the booking: travel dates, country, last day of dispute (R5). A change adds a row.
CREATE TABLE allocation_terms (
    site_id       BIGINT    NOT NULL,
    id            {{serial}},
    allocation_id BIGINT    NOT NULL,
    effective_at  BIGINT    NOT NULL, -- counts from then on; the first row of an allocation also for all time before
    recorded_at   BIGINT    NOT NULL,
    start_day     BIGINT    NOT NULL, -- S of R4
    end_day       BIGINT    NOT NULL, -- D of R4
    last_day      BIGINT    NOT NULL, -- L of R5
    country       TEXT      NOT NULL,
    suppliers     TEXT      NOT NULL, -- of the booking: ids, sorted, comma-separated
    digest        {{bytes}} NOT NULL DEFAULT '',
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, allocation_id) REFERENCES allocations (site_id, id)
);
CREATE INDEX allocation_terms_by_allocation ON allocation_terms (site_id, allocation_id, id);
CREATE INDEX allocation_terms_by_effect ON allocation_terms (site_id, effective_at);

-- Refunds, chargebacks, prevented disputes and reversals of an allocation (R3). Append-only.
CREATE TABLE allocation_events (
    site_id        BIGINT    NOT NULL,
    id             {{serial}},
    allocation_id  BIGINT    NOT NULL,
    transaction_id BIGINT    NOT NULL, -- that brought it
    kind           TEXT      NOT NULL, -- refund, chargeback, prevented or chargeback-reversal
    amount         BIGINT    NOT NULL, -- minor units of the allocation's currency, negative where a refund came back
    effective_at   BIGINT    NOT NULL,
    recorded_at    BIGINT    NOT NULL,
    digest         {{bytes}} NOT NULL DEFAULT '',
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, allocation_id) REFERENCES allocations (site_id, id)
);
CREATE INDEX allocation_events_by_allocation ON allocation_events (site_id, allocation_id, effective_at);
CREATE INDEX allocation_events_by_transaction ON allocation_events (site_id, transaction_id, allocation_id);
CREATE INDEX allocation_events_by_effect ON allocation_events (site_id, effective_at);

-- The premium ledger (R10), append-only: each line is the difference between the premiums of two states of an allocation, with
-- the state it leads to. Always: the sum of amount = premium of the last state + the sum of retained.
CREATE TABLE premium_lines (
    site_id         BIGINT    NOT NULL,
    id              {{serial}},
    allocation_id   BIGINT    NOT NULL,
    channel_id      BIGINT    NOT NULL, -- of the allocation: statements are by channel
    booking_id      BIGINT    NOT NULL, -- of the allocation
    transaction_id  BIGINT    NOT NULL, -- the cause: the payment, the refund; of a changed booking the payment again
    kind            TEXT      NOT NULL, -- original, additional, return or correction
    cause           TEXT      NOT NULL, -- purchase, refund, re_dated, late_fixing or correction
    recorded_at     BIGINT    NOT NULL, -- decides on which statement it is (R11)
    effective_at    BIGINT    NOT NULL, -- of the cause; its day is the day of the change
    currency        TEXT      NOT NULL, -- policy currency Q
    amount          BIGINT    NOT NULL, -- the difference booked, signed, minor units; 0 if retained
    retained        BIGINT    NOT NULL, -- return premium that is never returned; not negative
    state_amount    BIGINT    NOT NULL, -- a − refunds, minor units of the allocation's currency
    state_value     BIGINT    NOT NULL, -- its PV at the locked rate, minor units of currency
    lead_days       BIGINT    NOT NULL, -- D − P; negative: no premium, and flagged
    ppm             BIGINT    NOT NULL, -- of the band of the lead; 0 where the lead is negative
    premium         BIGINT    NOT NULL, -- of the state, minor units of currency
    minimum_applied BOOLEAN   NOT NULL, -- premium is the minimum per line
    policy_id       BIGINT    NOT NULL, -- in force on P
    rate_card       BIGINT,             -- the line of the rate card; NULL where the lead is negative
    simulated       BOOLEAN   NOT NULL, -- of a test channel: outside every total
    digest          {{bytes}} NOT NULL DEFAULT '',
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, allocation_id) REFERENCES allocations (site_id, id),
    FOREIGN KEY (site_id, transaction_id) REFERENCES transactions (site_id, id),
    FOREIGN KEY (site_id, policy_id) REFERENCES policies (site_id, id)
);
CREATE INDEX premium_lines_by_allocation ON premium_lines (site_id, allocation_id, id);
CREATE INDEX premium_lines_by_channel ON premium_lines (site_id, channel_id, recorded_at, id);
CREATE INDEX premium_lines_by_booking ON premium_lines (site_id, booking_id, id);
-- An allocation is priced once, whatever runs concurrently.
CREATE UNIQUE INDEX premium_lines_original ON premium_lines (site_id, allocation_id) WHERE kind = 'original';
-- For the bordereau of a month.
CREATE INDEX premium_lines_by_recording ON premium_lines (site_id, recorded_at, id);
CREATE INDEX premium_lines_by_transaction ON premium_lines (site_id, transaction_id, id);

-- Earlier totals of a booking (E4). The current one is stored with the booking.
CREATE TABLE booking_totals (
    site_id    BIGINT    NOT NULL,
    id         {{serial}},
    booking_id BIGINT    NOT NULL,
    changed_at BIGINT    NOT NULL, -- until then it was
    total      BIGINT    NOT NULL, -- minor units of the booking's currency
    digest     {{bytes}} NOT NULL DEFAULT '',
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, booking_id) REFERENCES bookings (site_id, id)
);
CREATE INDEX booking_totals_by_booking ON booking_totals (site_id, booking_id, id);

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

-- What changes in the exposure from some day on. A row is written with its cause; folding moves it into the buckets and cubes.
CREATE TABLE exposure_deltas (
    site_id    BIGINT NOT NULL,
    id         {{serial}},
    day        BIGINT NOT NULL,           -- from this day on there is that much more in the bucket
    channel_id BIGINT NOT NULL,
    currency   TEXT   NOT NULL,           -- base currency
    scheme     TEXT   NOT NULL,           -- '' for instalments
    country    TEXT   NOT NULL,
    suppliers  TEXT   NOT NULL,           -- as in allocation_terms
    standing   TEXT   NOT NULL,           -- covered (E1, E2), uncovered (E5) or instalments (E4)
    valued_in  TEXT   NOT NULL,           -- currency of locked; '' where there is no rate yet
    start_day  BIGINT NOT NULL,           -- S of R4
    end_day    BIGINT NOT NULL,           -- D of R4
    last_day   BIGINT NOT NULL,           -- L of R5
    counted    BIGINT NOT NULL,           -- allocations, of instalments bookings; signed, as are the amounts
    amount     BIGINT NOT NULL,           -- minor units of currency
    locked     BIGINT NOT NULL,           -- minor units of valued_in: each allocation at its own rate, rounded by itself
    noted_at   BIGINT NOT NULL,           -- by the real clock: old deltas are folded
    known_at   BIGINT NOT NULL DEFAULT 0, -- when it was recorded; 0: before known_since
    {{key}} (site_id, id)
);

-- Updating the row is the lock under which a site's deltas are folded. No payment touches it.
CREATE TABLE exposure_folds (
    site_id     BIGINT NOT NULL PRIMARY KEY,
    version     BIGINT NOT NULL,
    known_since BIGINT NOT NULL DEFAULT 0 -- a report of an earlier instant reads the allocations
);

-- Every delta that is in the cubes, up to a thousand per row: to add up what no cube distinguishes, and to take later days out of a
-- cube again.
CREATE TABLE exposure_buckets (
    site_id     BIGINT    NOT NULL,
    id          {{serial}},
    first_day   BIGINT    NOT NULL,            -- from which the first delta counts
    final_day   BIGINT    NOT NULL,            -- from which all deltas count
    last_day    BIGINT    NOT NULL,            -- after which no delta counts
    counted     BIGINT    NOT NULL,            -- number of deltas
    deltas      {{bytes}} NOT NULL,            -- opaque to SQL
    final_known BIGINT    NOT NULL DEFAULT 0,  -- when the last delta was recorded
    known       {{bytes}} NOT NULL DEFAULT '', -- when each was recorded, opaque to SQL; '': all before known_since
    {{key}} (site_id, id)
);
CREATE INDEX exposure_buckets_by_known ON exposure_buckets (site_id, final_known);

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
CREATE UNIQUE INDEX exposure_cells_by_view ON exposure_cells (site_id, view, first_key, second_key, currency, standing, valued_in);

-- Changes of a cell within a block of 32 days. A report of a day adds up the earlier blocks of a view and reads the days of one.
CREATE TABLE exposure_blocks (
    site_id      BIGINT    NOT NULL,
    view         TEXT      NOT NULL,
    block        BIGINT    NOT NULL, -- days since 1970 / 32
    cell         BIGINT    NOT NULL,
    counted      BIGINT    NOT NULL, -- allocations; sums over the block, as the next six
    amount       BIGINT    NOT NULL, -- amount at risk
    by_end       BIGINT    NOT NULL, -- undelivered amount with recognition end_date
    by_start     BIGINT    NOT NULL, -- undelivered amount with recognition start_date
    locked       BIGINT    NOT NULL, -- the same three at locked rates
    locked_end   BIGINT    NOT NULL,
    locked_start BIGINT    NOT NULL,
    days         {{bytes}} NOT NULL, -- the changes of each day, opaque to SQL
    PRIMARY KEY (site_id, view, block, cell)
);

-- Exchange rates (rates).

-- Reference rates in units per euro. A manual quote counts only for the site whose operators agreed on it.
CREATE TABLE fixings (
    id          {{serial}},
    site_id     BIGINT NOT NULL, -- 0: for every site
    provider    TEXT   NOT NULL, -- ecb, manual or demo
    currency    TEXT   NOT NULL,
    day         BIGINT NOT NULL,
    rate        TEXT   NOT NULL, -- decimal text, as published
    recorded_at BIGINT NOT NULL, -- on file from this instant on (R9), by the real clock
    expires_at  BIGINT,          -- of a manual quote; NULL: never
    quote_id    TEXT   NOT NULL, -- of a manual quote
    UNIQUE (site_id, provider, currency, day, quote_id),
    {{key}} (id)
);
CREATE INDEX fixings_of_site ON fixings (site_id, id);
CREATE INDEX fixings_last ON fixings (currency, provider, day);
-- For how long a kept report stays right: until a rate begins or ends to count.
CREATE INDEX fixings_by_recording ON fixings (recorded_at);
CREATE INDEX fixings_that_expire ON fixings (expires_at) WHERE expires_at IS NOT NULL;

-- Limits (limits, R12).

-- Limits of a site, a channel, a booking or a payment. They are only added: of those in force on a day the one from the latest
-- day counts, of two from the same day the later recorded one.
CREATE TABLE limits (
    site_id     BIGINT NOT NULL,
    id          {{serial}},
    scope       TEXT   NOT NULL, -- transaction, booking, channel or site
    channel_id  BIGINT,          -- of this channel alone, before the general one; NULL: of every channel, or of the site
    from_day    BIGINT NOT NULL, -- in force from then on
    amount      BIGINT,          -- minor units of currency; NULL: no separate limit from then on
    currency    TEXT   NOT NULL, -- of the policy on from_day; use is counted in it
    note        TEXT   NOT NULL, -- the reason, for later readers
    author_id   BIGINT NOT NULL, -- 0: the program itself
    author      TEXT   NOT NULL,
    recorded_at BIGINT NOT NULL,
    {{key}} (site_id, id),
    FOREIGN KEY (site_id) REFERENCES sites (id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id)
);

-- Use that reached 80, 95 or 100 % of a limit. Append-only; the next row of a threshold follows once use has fallen below it.
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

-- The part of an allocation above a limit. The payment is protected all the same; the report says so. It can exceed one limit and
-- later another of the same scope, and both rows stay.
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

-- Changes to the use of a channel and its site, which count in the order of their ids. A row is written with its cause and
-- removed when it has been counted, so that nothing is lost or counted twice.
CREATE TABLE limit_changes (
    site_id        BIGINT NOT NULL,
    id             {{serial}},
    kind           TEXT   NOT NULL, -- payment, event, re_dated, priced or limit
    transaction_id BIGINT NOT NULL, -- the cause of a payment or event; 0 for the others
    allocation_id  BIGINT NOT NULL, -- of a re_dated or priced one; 0 for the others
    recorded_at    BIGINT NOT NULL,
    {{key}} (site_id, id)
);
-- The last change over all sites.
CREATE INDEX limit_changes_by_id ON limit_changes (id);
-- A new policy is a change, too: the running use follows it from its place in the order.
CREATE INDEX limit_changes_of_policies ON limit_changes (site_id, recorded_at) WHERE kind = 'policy';

-- The last change of a site that was visible at an instant. Ids can become visible out of order, but writes with ids up to this one had
-- begun by then, and are committed or rolled back after the maximum duration of a write.
CREATE TABLE limit_horizons (
    site_id BIGINT NOT NULL,
    up_to   BIGINT NOT NULL, -- id of a change
    seen_at BIGINT NOT NULL, -- by the real clock
    PRIMARY KEY (site_id, up_to)
);

-- The progress of a site's running use. Updating the version locks everything derived from it.
CREATE TABLE limit_books (
    site_id     BIGINT NOT NULL PRIMARY KEY,
    day         BIGINT NOT NULL, -- the uses are those at the end of this day
    known_at    BIGINT NOT NULL, -- the latest change that was settled was recorded then
    recognition TEXT   NOT NULL, -- by which the lines were computed (R4)
    walked_to   BIGINT,          -- while a new recognition is applied: the allocation that it has come to; NULL: done
    version     BIGINT NOT NULL
);
CREATE INDEX limit_books_by_day ON limit_books (day);
CREATE INDEX limit_books_open ON limit_books (site_id) WHERE walked_to IS NOT NULL;

-- What each allocation adds to the use: its E1 locked. A line stays, even at 0, while some recognition finds a part of the allocation
-- undelivered.
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

-- The running use of channels and sites, and its level. Of a booking only the level is kept.
CREATE TABLE limit_uses (
    site_id   BIGINT NOT NULL,
    scope     TEXT   NOT NULL,
    object_id BIGINT NOT NULL, -- of the booking or channel; 0 for the site
    currency  TEXT   NOT NULL,
    amount    BIGINT NOT NULL,
    level     BIGINT NOT NULL, -- 0, 80, 95 or 100: the last threshold that was crossed and not fallen below
    PRIMARY KEY (site_id, scope, object_id, currency)
);

-- A new or changed limit of transactions or bookings also applies to what exists: a job walks through the allocations. The row goes
-- when it is done; a limit from a later day waits for it.
CREATE TABLE limit_reviews (
    site_id   BIGINT NOT NULL,
    limit_id  BIGINT NOT NULL,
    walked_to BIGINT NOT NULL, -- the allocation that it has come to
    PRIMARY KEY (site_id, limit_id),
    FOREIGN KEY (site_id, limit_id) REFERENCES limits (site_id, id)
);

-- Statements (statements, R11).

-- The last number of each site. It is drawn inside the write that issues the statement: numbers have no gaps.
CREATE TABLE statement_numbers (
    site_id BIGINT NOT NULL PRIMARY KEY REFERENCES sites (id),
    last    BIGINT NOT NULL
);

-- Up to where a channel's lines were looked at. Moving it on is the lock against issuing a period twice.
CREATE TABLE statement_progress (
    site_id       BIGINT NOT NULL,
    channel_id    BIGINT NOT NULL,
    covered_until BIGINT NOT NULL, -- lines recorded before this instant are on statements, or there are none
    PRIMARY KEY (site_id, channel_id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id)
);

-- A statement as issued; rows never change. Its premium lines are determined by channel, currency and recorded_at, so
-- a line can never be on two statements or on none.
CREATE TABLE statements (
    site_id    BIGINT    NOT NULL,
    id         {{serial}},
    number     BIGINT    NOT NULL, -- without gaps in the site
    channel_id BIGINT    NOT NULL,
    period     TEXT      NOT NULL, -- month, biweek or week
    first_day  BIGINT    NOT NULL, -- of the period, as people read it
    last_day   BIGINT    NOT NULL,
    from_at    BIGINT    NOT NULL, -- covers records from this instant
    until_at   BIGINT    NOT NULL, -- up to this one, exclusive
    issued_at  BIGINT    NOT NULL,
    due_day    BIGINT    NOT NULL,
    currency   TEXT      NOT NULL, -- policy currency Q
    opening    BIGINT    NOT NULL, -- minor units of currency, as all amounts here
    payments   BIGINT    NOT NULL, -- recorded from from_at up to until_at, for any statement of the account
    closing    BIGINT    NOT NULL,
    account    BIGINT    NOT NULL, -- all charges to date, including this statement: its open amount is computed from this and all payments
    content    TEXT      NOT NULL, -- JSON: names, lines by kind, minimum and taxes as they were
    digest     {{bytes}} NOT NULL DEFAULT '',
    UNIQUE (site_id, number),
    UNIQUE (site_id, channel_id, currency, until_at),
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id)
);
CREATE INDEX statements_by_issue ON statements (site_id, issued_at, id);
CREATE INDEX statements_by_due ON statements (site_id, due_day, id);

-- What was paid against a statement. Append-only: a mistake is reversed by a payment of the negative amount.
CREATE TABLE statement_payments (
    site_id      BIGINT    NOT NULL,
    id           {{serial}},
    statement_id BIGINT    NOT NULL,
    channel_id   BIGINT    NOT NULL, -- of the statement, with its currency: the account that is paid
    currency     TEXT      NOT NULL,
    paid_on      BIGINT    NOT NULL, -- day
    amount       BIGINT    NOT NULL, -- minor units; negative: paid back
    reference    TEXT      NOT NULL, -- of the bank: the same one again is the same payment
    author       TEXT      NOT NULL, -- who recorded it
    recorded_at  BIGINT    NOT NULL, -- decides on which statement it is
    digest       {{bytes}} NOT NULL DEFAULT '',
    UNIQUE (site_id, statement_id, reference),
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, statement_id) REFERENCES statements (site_id, id)
);
CREATE INDEX statement_payments_by_account ON statement_payments (site_id, channel_id, currency, recorded_at);

-- Protection requests of merchants (underwriting).

-- What a merchant states to have a channel protected, and how far that is. Instants are by the real clock.
CREATE TABLE protection_requests (
    site_id     BIGINT NOT NULL,
    channel_id  BIGINT NOT NULL,
    state       TEXT   NOT NULL, -- writing, asked, questions, taken or refused
    facts       TEXT   NOT NULL, -- its contents, as JSON
    note        TEXT   NOT NULL, -- the last word of the operator
    asked_by    TEXT   NOT NULL,
    asked_at    BIGINT,
    answered_by TEXT   NOT NULL,
    answered_at BIGINT,
    version     BIGINT NOT NULL,
    modified_at BIGINT NOT NULL,
    PRIMARY KEY (site_id, channel_id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id)
);
CREATE INDEX protection_requests_by_state ON protection_requests (state, asked_at, site_id, channel_id);

-- Documents of a request.
CREATE TABLE protection_documents (
    site_id    BIGINT NOT NULL,
    id         {{serial}},
    channel_id BIGINT NOT NULL,
    name       TEXT   NOT NULL,
    type       TEXT   NOT NULL, -- as its content shows: pdf, png or jpeg
    size       BIGINT NOT NULL, -- in bytes
    sha256     TEXT   NOT NULL, -- in hexadecimal
    added_by   TEXT   NOT NULL,
    added_at   BIGINT NOT NULL,
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, channel_id) REFERENCES protection_requests (site_id, channel_id)
);
CREATE INDEX protection_documents_by_channel ON protection_documents (site_id, channel_id, id);

-- The bytes of a document, in pieces.
CREATE TABLE protection_pieces (
    site_id     BIGINT    NOT NULL,
    document_id BIGINT    NOT NULL,
    number      BIGINT    NOT NULL, -- from 0
    body        {{bytes}} NOT NULL,
    PRIMARY KEY (site_id, document_id, number),
    FOREIGN KEY (site_id, document_id) REFERENCES protection_documents (site_id, id)
);

-- Certificates for travellers (certificates).

-- Keys of the pages that show travellers whether a booking is protected. Only a booking's last key can be valid.
CREATE TABLE certificates (
    site_id    BIGINT NOT NULL,
    booking_id BIGINT NOT NULL,
    number     BIGINT NOT NULL,        -- of the key, from 1 per booking
    key_hash   TEXT   NOT NULL, -- for finding the page
    sealed_key TEXT   NOT NULL,        -- sealed, so that the link can be shown again; '' once the key is revoked
    created_at BIGINT NOT NULL,
    revoked_at BIGINT,
    UNIQUE (site_id, key_hash),
    PRIMARY KEY (site_id, booking_id, number),
    FOREIGN KEY (site_id, booking_id) REFERENCES bookings (site_id, id)
);

-- What travellers say on these pages after the merchant has failed. The last note of a booking counts.
CREATE TABLE traveller_notes (
    site_id    BIGINT NOT NULL,
    booking_id BIGINT NOT NULL,
    number     BIGINT NOT NULL, -- from 1 per booking
    noted_at   BIGINT NOT NULL,
    asked      TEXT   NOT NULL, -- bank, insurer, protection or nobody
    paid_back  BIGINT NOT NULL, -- minor units of the currency of the booking
    PRIMARY KEY (site_id, booking_id, number),
    FOREIGN KEY (site_id, booking_id) REFERENCES bookings (site_id, id)
);

-- The event feed (events).

-- What happened, for the feed and for webhooks (decision 0008). A row is written with the change; it names the object and does not
-- copy it. Rows are kept for 90 days.
CREATE TABLE events (
    site_id     BIGINT NOT NULL,
    id          {{serial}},      -- drawn before the commit, so rows become visible in another order
    position    BIGINT,          -- in the feed of the site: from 1 without gaps; NULL until the row was given its place
    type        TEXT   NOT NULL, -- such as booking.created; it determines the kind of the object
    object_id   BIGINT NOT NULL,
    at          BIGINT NOT NULL, -- when it happened, by the clock of the site
    recorded_at BIGINT NOT NULL, -- by the real clock
    details     TEXT   NOT NULL  -- JSON: details of the event
);
{{postgres}}ALTER TABLE events ADD PRIMARY KEY (site_id, id);
CREATE INDEX events_by_position ON events (site_id, position) WHERE position IS NOT NULL;
CREATE INDEX events_unplaced ON events (site_id, id) WHERE position IS NULL;
CREATE INDEX events_by_object ON events (site_id, object_id, position) WHERE position IS NOT NULL;

-- The end of a site's feed. Updating the row is the lock under which events get their positions.
CREATE TABLE event_heads (
    site_id    BIGINT NOT NULL PRIMARY KEY,
    epoch      BIGINT NOT NULL, -- in every cursor; another one after a restore
    position   BIGINT NOT NULL, -- of the last event that has one
    removed_to BIGINT NOT NULL  -- events up to this position were removed
);

-- Webhooks (webhooks). Instants are by the real clock: receivers live by it.

-- Receivers of webhooks (decision 0010).
CREATE TABLE webhook_endpoints (
    site_id       BIGINT NOT NULL,
    id            {{serial}},
    version       BIGINT NOT NULL,
    url           TEXT   NOT NULL,
    types         TEXT   NOT NULL,           -- such as booking.*, with spaces between them; '' for all
    state         TEXT   NOT NULL,           -- enabled, disabled, or deleted: its rows are being removed
    reason        TEXT   NOT NULL,           -- why it was disabled; '' while it is enabled
    position      BIGINT NOT NULL,           -- in the feed: up to there each event has its delivery
    failures      BIGINT NOT NULL,           -- in a row
    failing_since BIGINT NOT NULL,           -- the first of these failures; 0 after a success
    retry_at      BIGINT NOT NULL,           -- nothing is sent before that
    slow          BIGINT NOT NULL,           -- 1 if its last answer took long
    created_by    TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    modified_at   BIGINT NOT NULL,
    enabled_at    BIGINT NOT NULL DEFAULT 0, -- by the real clock; 0: since it was made
    {{key}} (site_id, id)
);

-- Signing secrets. At most two of an endpoint are valid at the same time.
CREATE TABLE webhook_secrets (
    site_id     BIGINT NOT NULL,
    id          {{serial}},
    endpoint_id BIGINT NOT NULL,
    secret      TEXT   NOT NULL, -- sealed
    made_at     BIGINT NOT NULL,
    ends_at     BIGINT NOT NULL, -- 0: it is the newest, and has no end
    {{key}} (site_id, id)
);
CREATE INDEX webhook_secrets_by_endpoint ON webhook_secrets (site_id, endpoint_id, id);

-- Pending and past deliveries to an endpoint.
CREATE TABLE webhook_deliveries (
    site_id     BIGINT NOT NULL,
    id          {{serial}},
    endpoint_id BIGINT NOT NULL,
    event_id    BIGINT NOT NULL,
    type        TEXT   NOT NULL, -- of the event
    kind        TEXT   NOT NULL, -- of the object of the event, with object_id: deliveries about one object go one by one
    object_id   BIGINT NOT NULL,
    state       TEXT   NOT NULL, -- waiting, delivered, given_up
    next_at     BIGINT NOT NULL, -- when it may be sent; while it is being sent, when its lease ends
    attempts    BIGINT NOT NULL,
    made_at     BIGINT NOT NULL,
    done_at     BIGINT NOT NULL, -- 0 while it waits
    {{key}} (site_id, id)
);
CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries (site_id, endpoint_id, id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (site_id, endpoint_id, next_at)
    WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_in_order ON webhook_deliveries (site_id, endpoint_id, kind, object_id, id)
    WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_done ON webhook_deliveries (site_id, done_at) WHERE state <> 'waiting';

-- The log: every attempt to send.
CREATE TABLE webhook_attempts (
    site_id     BIGINT NOT NULL,
    id          {{serial}},
    delivery_id BIGINT NOT NULL,
    at          BIGINT NOT NULL,
    took        BIGINT NOT NULL, -- microseconds
    status      BIGINT NOT NULL, -- of the answer; 0 without one
    answer      TEXT   NOT NULL, -- the beginning of its body
    error       TEXT   NOT NULL, -- why there was no answer
    {{key}} (site_id, id)
);
CREATE INDEX webhook_attempts_by_delivery ON webhook_attempts (site_id, delivery_id, id);

-- Mails (mail). Instants are by the real clock.

-- Attachments. Several mails may share one.
CREATE TABLE mail_files (
    site_id BIGINT NOT NULL REFERENCES sites (id),
    id      {{serial}},
    name    TEXT   NOT NULL,
    type    TEXT   NOT NULL, -- as MIME writes it
    bytes   BIGINT NOT NULL,
    {{key}} (site_id, id)
);

-- The bytes of an attachment, in pieces.
CREATE TABLE mail_pieces (
    site_id BIGINT    NOT NULL,
    file_id BIGINT    NOT NULL,
    number  BIGINT    NOT NULL, -- from 0
    body    {{bytes}} NOT NULL, -- lines as they were understood, without card numbers
    PRIMARY KEY (site_id, file_id, number),
    FOREIGN KEY (site_id, file_id) REFERENCES mail_files (site_id, id)
);

-- Mails, one row per recipient (decision 0009).
CREATE TABLE mails (
    site_id        BIGINT  NOT NULL REFERENCES sites (id),
    id             {{serial}},
    event_id       BIGINT,                     -- of the event that it is about; NULL: sent on request
    number         BIGINT  NOT NULL,           -- of the e-mails about the same event, from 1
    kind           TEXT    NOT NULL,           -- receipt, refund, failure, chargeback, test or heads
    transaction_id BIGINT  NOT NULL,           -- 0: it is about none
    booking_id     BIGINT  NOT NULL,           -- 0: it is about none
    copy           BOOLEAN NOT NULL,           -- to primary_mail, of a mail to the traveller
    recipient      TEXT    NOT NULL,           -- the address; '' where there is none, or it was forgotten
    letter         TEXT    NOT NULL,           -- JSON: the values of the text; '' once deleted
    state          TEXT    NOT NULL,           -- outbox, waiting, sending, sent, dead or unknown
    answer         TEXT    NOT NULL,           -- the last response of the server, or the error
    attempts       BIGINT  NOT NULL,           -- since it was asked for
    resends        BIGINT  NOT NULL,           -- how often it was resent on request
    queued_at      BIGINT  NOT NULL,
    asked_at       BIGINT  NOT NULL,           -- when it was queued, or asked for again
    tried_at       BIGINT,                     -- when the last attempt began
    next_at        BIGINT,                     -- waiting: when it is tried; sending: when its outcome counts as unknown
    forget_at      BIGINT,                     -- when address and letter are forgotten
    file_id        BIGINT  NOT NULL DEFAULT 0, -- attachment; 0: none
    modified_at    BIGINT  NOT NULL,
    UNIQUE (site_id, event_id, number),
    {{key}} (site_id, id)
);
CREATE INDEX mails_due ON mails (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX mails_forget ON mails (site_id, forget_at) WHERE forget_at IS NOT NULL;
CREATE INDEX mails_tried ON mails (tried_at) WHERE tried_at IS NOT NULL;
CREATE INDEX mails_by_state ON mails (site_id, state, id);
CREATE INDEX mails_by_booking ON mails (site_id, booking_id);
CREATE INDEX mails_by_transaction ON mails (site_id, transaction_id);
-- Sites take turns: finds the due mails of one site in order.
CREATE INDEX mails_in_turns ON mails (site_id, state, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX mails_by_file ON mails (site_id, file_id) WHERE file_id <> 0;

-- How far the mails follow the events of a site.
CREATE TABLE mail_marks (
    site_id   BIGINT NOT NULL PRIMARY KEY REFERENCES sites (id),
    position  BIGINT NOT NULL, -- of the last event that has its mails
    unsure_to BIGINT NOT NULL  -- mails about events up to this id may have been sent before a restore
);

-- Reports by mail, on a schedule.

-- Reports sent by mail each week or month (decision 0013). due_at is the start of the day on which the next one is made, by the
-- site's clock; all other instants are by the real clock. Site 0 has the reports over all sites.
CREATE TABLE schedules (
    site_id     BIGINT NOT NULL,
    id          {{serial}},
    name        TEXT   NOT NULL,
    view        TEXT   NOT NULL,                       -- the address of a page below its site, or for site 0 below the dashboard
    format      TEXT   NOT NULL,                       -- csv or xlsx
    every       TEXT   NOT NULL,                       -- week or month
    on_day      BIGINT NOT NULL,                       -- of the week from Monday, 1; or of the month
    owner_id    BIGINT NOT NULL REFERENCES users (id), -- with whose rights it is made
    state       TEXT   NOT NULL,                       -- active, paused or stopped
    reason      TEXT   NOT NULL,                       -- why it was stopped
    due_at      BIGINT NOT NULL,
    asked_at    BIGINT,                                -- requested to run immediately
    tries       BIGINT NOT NULL,                       -- failed tries of the one that is due
    retry_at    BIGINT,
    version     BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    modified_at BIGINT NOT NULL,
    {{key}} (site_id, id)
);
CREATE INDEX schedules_due ON schedules (state, due_at);

-- Recipients of a report.
CREATE TABLE schedule_recipients (
    site_id     BIGINT NOT NULL,
    schedule_id BIGINT NOT NULL,
    user_id     BIGINT NOT NULL REFERENCES users (id),
    PRIMARY KEY (site_id, schedule_id, user_id),
    FOREIGN KEY (site_id, schedule_id) REFERENCES schedules (site_id, id)
);

-- Outcomes of each report: the row makes sure that a report is made once.
CREATE TABLE schedule_runs (
    site_id     BIGINT NOT NULL,
    id          {{serial}},
    schedule_id BIGINT NOT NULL,
    occasion    TEXT   NOT NULL, -- the day that it was due, or when it was requested
    outcome     TEXT   NOT NULL, -- sent, failed or skipped
    note        TEXT   NOT NULL,
    recipients  BIGINT NOT NULL,
    file        TEXT   NOT NULL, -- its name; '' for none
    bytes       BIGINT NOT NULL,
    made_at     BIGINT NOT NULL,
    {{key}} (site_id, id),
    UNIQUE (site_id, schedule_id, occasion),
    FOREIGN KEY (site_id, schedule_id) REFERENCES schedules (site_id, id)
);

-- Imports over HTTP (takeover). Instants are by the real clock.

-- Files of bookings and payments.
CREATE TABLE imports (
    site_id              BIGINT  NOT NULL,
    id                   {{serial}},
    state                TEXT    NOT NULL,           -- receiving, queued, tried, waiting, done, failed or dropped
    trial                BOOLEAN NOT NULL,           -- a dry run: nothing stays but its rows
    mode                 TEXT    NOT NULL,           -- of the channels that it creates; '' when it creates none
    cover_from_effective BOOLEAN NOT NULL,
    reason               TEXT    NOT NULL,           -- for the other operator, where one has to approve
    sha256               TEXT    NOT NULL,           -- of the file, in hexadecimal
    size                 BIGINT  NOT NULL,           -- of the file, in bytes
    rows_found           BIGINT  NOT NULL,
    rows_done            BIGINT  NOT NULL,
    bookings_created     BIGINT  NOT NULL,
    payments_created     BIGINT  NOT NULL,
    payments_there       BIGINT  NOT NULL,
    refused              BIGINT  NOT NULL,
    channels             TEXT    NOT NULL,           -- names of the channels that it created, as JSON
    totals               TEXT    NOT NULL DEFAULT '[]', -- of the payments that it created by type and currency, as JSON
    notes                TEXT    NOT NULL DEFAULT '{}', -- notes about the file, as JSON
    proposal_id          BIGINT,                     -- awaits approval by another operator
    problem              TEXT    NOT NULL,           -- why it failed
    author_id            BIGINT  NOT NULL,
    author               TEXT    NOT NULL,
    author_name          TEXT    NOT NULL,
    tries                BIGINT  NOT NULL,           -- runs since the last row was done
    ran_at               BIGINT  NOT NULL,           -- when its last run began
    created_at           BIGINT  NOT NULL,
    modified_at          BIGINT  NOT NULL,
    finished_at          BIGINT,
    tried_created        BIGINT  NOT NULL DEFAULT 0, -- bookings that its dry run would create
    tried_there          BIGINT  NOT NULL DEFAULT 0, -- bookings that its dry run found
    token_id             BIGINT  NOT NULL DEFAULT 0, -- API token it was sent or confirmed with; the import ends with it; 0: none
    {{key}} (site_id, id),
    FOREIGN KEY (site_id) REFERENCES sites (id)
);
CREATE INDEX imports_by_state ON imports (state, site_id, id);
-- Sites take turns: which one was served last.
CREATE INDEX imports_by_run ON imports (site_id, ran_at);

-- The file of an import, while it is needed.
CREATE TABLE import_pieces (
    site_id   BIGINT    NOT NULL,
    import_id BIGINT    NOT NULL,
    number    BIGINT    NOT NULL, -- from 0
    body      {{bytes}} NOT NULL,
    PRIMARY KEY (site_id, import_id, number),
    FOREIGN KEY (site_id, import_id) REFERENCES imports (site_id, id)
);

-- Results of the rows. A real import writes them together with the records it creates.
CREATE TABLE import_rows (
    site_id        BIGINT  NOT NULL,
    import_id      BIGINT  NOT NULL,
    trial          BOOLEAN NOT NULL,
    id             BIGINT  NOT NULL, -- the line in the file
    state          TEXT    NOT NULL, -- created, already_there or refused
    booking_id     BIGINT,
    transaction_id BIGINT,
    reason         TEXT    NOT NULL, -- why it was refused
    PRIMARY KEY (site_id, import_id, trial, id),
    FOREIGN KEY (site_id, import_id) REFERENCES imports (site_id, id)
);

-- What a dry run found for each channel, for the operator who approves the import.
CREATE TABLE import_shares (
    site_id    BIGINT  NOT NULL,
    import_id  BIGINT  NOT NULL,
    channel    TEXT    NOT NULL, -- its name
    created    BOOLEAN NOT NULL, -- the import would create it
    mode       TEXT    NOT NULL,
    currency   TEXT    NOT NULL, -- of the sums
    payments   BIGINT  NOT NULL, -- number of payments that would be created
    added      BIGINT  NOT NULL,
    taken      BIGINT  NOT NULL,
    first_paid TEXT    NOT NULL, -- days, such as 2026-03-31
    last_paid  TEXT    NOT NULL,
    PRIMARY KEY (site_id, import_id, channel),
    FOREIGN KEY (site_id, import_id) REFERENCES imports (site_id, id)
);

-- Insolvencies (insolvencies).

-- The failure of a merchant (R13).
CREATE TABLE insolvencies (
    site_id         BIGINT  NOT NULL,
    id              {{serial}},
    channel_id      BIGINT  NOT NULL,
    kind            TEXT    NOT NULL, -- administration, liquidation, ceased_trading, scheme_revoked or suspension
    state           TEXT    NOT NULL, -- reported, confirmed, open, claims_closed, closed or withdrawn
    trigger_at      BIGINT  NOT NULL, -- T
    evidence        TEXT    NOT NULL,
    reported_by_id  BIGINT  NOT NULL, -- 0: the program itself
    reported_by     TEXT    NOT NULL,
    reported_at     BIGINT  NOT NULL,
    confirmed_by    TEXT    NOT NULL, -- '' while reported
    confirmed_at    BIGINT,           -- K
    alone           BOOLEAN NOT NULL, -- confirmed by the person who reported it: in a sandbox
    reinstated_at   BIGINT,           -- when the channel was taken on again
    processing_allowed BOOLEAN NOT NULL, -- refunds at the processor, by a proposal
    snapshot_at     BIGINT,           -- NULL until the snapshot is made
    snapshot_lines  BIGINT  NOT NULL,
    snapshot_sha256 TEXT    NOT NULL, -- of the snapshot as text, in hexadecimal
    read_to         BIGINT  NOT NULL, -- allocations up to this id were read for the snapshot
    premium_due     BOOLEAN NOT NULL, -- premium of payments after the trigger is still to be returned
    premium_to      BIGINT  NOT NULL, -- that of allocations up to this id was
    version         BIGINT  NOT NULL,
    modified_at     BIGINT  NOT NULL,
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id)
);
-- At most one of a channel is neither closed nor withdrawn.
CREATE UNIQUE INDEX insolvencies_open ON insolvencies (site_id, channel_id) WHERE state NOT IN ('closed', 'withdrawn');
CREATE INDEX insolvencies_by_channel ON insolvencies (site_id, channel_id, id);
CREATE INDEX insolvencies_to_work ON insolvencies (site_id, id) WHERE state = 'confirmed' OR premium_due;

-- History of insolvencies. Append-only.
CREATE TABLE insolvency_events (
    site_id       BIGINT NOT NULL,
    id            {{serial}},
    insolvency_id BIGINT NOT NULL,
    channel_id    BIGINT NOT NULL,
    action        TEXT   NOT NULL, -- such as insolvency.confirm
    state         TEXT   NOT NULL, -- after it
    trigger_at    BIGINT NOT NULL,
    by_id         BIGINT NOT NULL, -- 0: the program itself
    by_name       TEXT   NOT NULL,
    reason        TEXT   NOT NULL,
    recorded_at   BIGINT NOT NULL,
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, insolvency_id) REFERENCES insolvencies (site_id, id)
);
CREATE INDEX insolvency_events_by_insolvency ON insolvency_events (site_id, insolvency_id, id);

-- Snapshots of insolvencies that are complete. Append-only.
CREATE TABLE insolvency_snapshots (
    site_id       BIGINT NOT NULL,
    id            {{serial}},
    insolvency_id BIGINT NOT NULL,
    channel_id    BIGINT NOT NULL,
    trigger_at    BIGINT NOT NULL,
    confirmed_at  BIGINT NOT NULL,
    lines         BIGINT NOT NULL,
    sha256        TEXT   NOT NULL,
    made_at       BIGINT NOT NULL,
    {{key}} (site_id, id),
    UNIQUE (site_id, insolvency_id),
    FOREIGN KEY (site_id, insolvency_id) REFERENCES insolvencies (site_id, id)
);

-- The allocations in a snapshot, as they were when the merchant failed. Append-only.
CREATE TABLE insolvency_lines (
    site_id         BIGINT NOT NULL,
    id              {{serial}},
    insolvency_id   BIGINT NOT NULL,
    allocation_id   BIGINT NOT NULL,
    transaction_id  BIGINT NOT NULL,
    booking_id      BIGINT NOT NULL,
    currency        TEXT   NOT NULL,
    remaining       BIGINT NOT NULL, -- N_T, minor units of currency
    undelivered     BIGINT NOT NULL, -- U_T
    last_day        BIGINT NOT NULL, -- L
    policy_currency TEXT   NOT NULL, -- of the locked rate; '' while the allocation waited for one
    from_rate       TEXT   NOT NULL, -- of currency per EUR; '' where both currencies are the same
    to_rate         TEXT   NOT NULL, -- of policy_currency per EUR
    not_eligible    TEXT   NOT NULL, -- reason for which no claim can be made; '' if eligible
    {{key}} (site_id, id),
    UNIQUE (site_id, insolvency_id, allocation_id),
    FOREIGN KEY (site_id, insolvency_id) REFERENCES insolvencies (site_id, id),
    FOREIGN KEY (site_id, allocation_id) REFERENCES allocations (site_id, id)
);

-- Claims (claims).

-- One dispute of one allocation of an insolvent merchant (R13). The covered amount depends on all claims of the year of
-- account, so it is computed when read.
CREATE TABLE claims (
    site_id         BIGINT  NOT NULL,
    id              {{serial}},
    insolvency_id   BIGINT  NOT NULL,
    channel_id      BIGINT  NOT NULL,
    allocation_id   BIGINT  NOT NULL,
    transaction_id  BIGINT  NOT NULL, -- the payment
    booking_id      BIGINT  NOT NULL,
    source          TEXT    NOT NULL, -- the processor of the dispute
    case_id         TEXT    NOT NULL, -- its id of the case
    first_day       BIGINT  NOT NULL, -- of the first debit; claims use up amounts in the order of first_day, source, case_id
    state           TEXT    NOT NULL, -- open, assessed, approved, paid, rejected or withdrawn
    currency        TEXT    NOT NULL, -- of the allocation
    disputed        BIGINT  NOT NULL, -- minor units of currency, as the next three
    loss            BIGINT  NOT NULL,
    payable         BIGINT  NOT NULL,
    represent       BIGINT  NOT NULL, -- the part of disputed that is not payable
    reason          TEXT    NOT NULL, -- of represent; '' if it is 0 or the claim is rejected or withdrawn
    policy_currency TEXT    NOT NULL, -- Q of the policy in force at the trigger
    value           BIGINT,           -- of payable, minor units of policy_currency; NULL while pending_rate
    paid            BIGINT  NOT NULL, -- minor units of policy_currency, less amounts set off
    released        BOOLEAN NOT NULL, -- other protection does not pay
    assessed_by_id  BIGINT  NOT NULL, -- 0: not assessed
    assessed_by     TEXT    NOT NULL,
    assessed        BIGINT  NOT NULL, -- payable when it was assessed
    approved_by     TEXT    NOT NULL, -- JSON: ids of the approvers in order
    version         BIGINT  NOT NULL,
    created_at      BIGINT  NOT NULL,
    modified_at     BIGINT  NOT NULL,
    UNIQUE (site_id, insolvency_id, allocation_id, source, case_id),
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, insolvency_id) REFERENCES insolvencies (site_id, id),
    FOREIGN KEY (site_id, allocation_id) REFERENCES allocations (site_id, id)
);
CREATE INDEX claims_by_state ON claims (site_id, state, id);
-- The last two are only read: the cover of a claim depends on those of all others.
CREATE INDEX claims_by_order ON claims (site_id, insolvency_id, first_day, source, case_id, id, value, paid);
CREATE INDEX claims_by_case ON claims (site_id, source, case_id, id);

-- History of claims, with the payable amount at the time. Append-only.
CREATE TABLE claim_events (
    site_id     BIGINT NOT NULL,
    id          {{serial}},
    claim_id    BIGINT NOT NULL,
    action      TEXT   NOT NULL, -- such as claim.approve
    state       TEXT   NOT NULL, -- after it
    disputed    BIGINT NOT NULL, -- after it, as the next three
    payable     BIGINT NOT NULL,
    value       BIGINT NOT NULL, -- 0 while pending_rate
    first_day   BIGINT NOT NULL,
    by_id       BIGINT NOT NULL, -- 0: the program itself
    by_name     TEXT   NOT NULL,
    reason      TEXT   NOT NULL,
    recorded_at BIGINT NOT NULL,
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, claim_id) REFERENCES claims (site_id, id)
);
CREATE INDEX claim_events_by_claim ON claim_events (site_id, claim_id, id);

-- Up to which allocation event the claims of an insolvency are made.
CREATE TABLE claim_marks (
    site_id       BIGINT NOT NULL,
    insolvency_id BIGINT NOT NULL,
    events_to     BIGINT NOT NULL,
    PRIMARY KEY (site_id, insolvency_id),
    FOREIGN KEY (site_id, insolvency_id) REFERENCES insolvencies (site_id, id)
);

-- Payments to the beneficiary of a merchant for its claims (R13).
CREATE TABLE payouts (
    site_id         BIGINT NOT NULL,
    id              {{serial}},
    number          BIGINT NOT NULL, -- without gaps in the site
    channel_id      BIGINT NOT NULL,
    state           TEXT   NOT NULL, -- planned, signed, paid or failed
    policy_currency TEXT   NOT NULL, -- Q
    value           BIGINT NOT NULL, -- the sum of its lines, minor units of policy_currency
    currency        TEXT   NOT NULL, -- of the bank transfer
    amount          BIGINT NOT NULL, -- minor units of currency
    from_rate       TEXT   NOT NULL, -- of policy_currency per EUR; '' where both currencies are the same
    to_rate         TEXT   NOT NULL, -- of currency per EUR
    beneficiary     TEXT   NOT NULL, -- its id, as it was when the payout was planned
    planned_at      BIGINT NOT NULL,
    signed_by       TEXT   NOT NULL, -- '' while planned
    settled_by      TEXT   NOT NULL, -- who recorded that it was paid, or that it failed
    bank_reference  TEXT   NOT NULL, -- of a payout that is paid
    failure         TEXT   NOT NULL, -- why it failed
    version         BIGINT NOT NULL,
    modified_at     BIGINT NOT NULL,
    UNIQUE (site_id, number),
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id)
);

-- History of payouts. Append-only.
CREATE TABLE payout_events (
    site_id     BIGINT NOT NULL,
    id          {{serial}},
    payout_id   BIGINT NOT NULL,
    action      TEXT   NOT NULL, -- such as payout.sign
    state       TEXT   NOT NULL, -- after it
    by_id       BIGINT NOT NULL, -- 0: the program itself
    by_name     TEXT   NOT NULL,
    note        TEXT   NOT NULL, -- the reference of the bank, or why it failed
    recorded_at BIGINT NOT NULL,
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, payout_id) REFERENCES payouts (site_id, id)
);
CREATE INDEX payout_events_by_payout ON payout_events (site_id, payout_id, id);

-- The amount that a payout pays for each claim; negative if the claim was overpaid before. Append-only.
CREATE TABLE payout_lines (
    site_id   BIGINT NOT NULL,
    id        {{serial}},
    payout_id BIGINT NOT NULL,
    claim_id  BIGINT NOT NULL,
    value     BIGINT NOT NULL, -- minor units of the payout's policy_currency
    UNIQUE (site_id, payout_id, claim_id),
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, payout_id) REFERENCES payouts (site_id, id),
    FOREIGN KEY (site_id, claim_id) REFERENCES claims (site_id, id)
);

-- Months of the claims bordereau that were presented to the underwriter. Their rows follow from the histories of claims and payouts.
-- Append-only.
CREATE TABLE claim_bordereaux (
    site_id         BIGINT NOT NULL,
    id              {{serial}},
    first_day       BIGINT NOT NULL, -- of the month
    row_count       BIGINT NOT NULL,
    sha256          TEXT   NOT NULL, -- of the bordereau as CSV, in hexadecimal
    presented_by_id BIGINT NOT NULL,
    presented_by    TEXT   NOT NULL,
    presented_at    BIGINT NOT NULL,
    UNIQUE (site_id, first_day),
    {{key}} (site_id, id),
    FOREIGN KEY (site_id) REFERENCES sites (id)
);

-- Money that came back after an insolvency, such as a dividend (R13).
CREATE TABLE recoveries (
    site_id       BIGINT NOT NULL,
    id            {{serial}},
    insolvency_id BIGINT NOT NULL,
    channel_id    BIGINT NOT NULL,
    kind          TEXT   NOT NULL, -- reserve, dividend, bond, supplier or scheme
    day           BIGINT NOT NULL,
    currency      TEXT   NOT NULL,
    amount        BIGINT NOT NULL, -- minor units of currency
    policy_currency TEXT NOT NULL, -- Q of the policy in force at the trigger
    value         BIGINT NOT NULL, -- minor units of policy_currency, at the last fixing up to day
    reference     TEXT   NOT NULL,
    recorded_by   TEXT   NOT NULL,
    recorded_at   BIGINT NOT NULL,
    cancelled_by  TEXT   NOT NULL, -- '' while it counts
    cancelled_for TEXT   NOT NULL, -- why
    version       BIGINT NOT NULL,
    modified_at   BIGINT NOT NULL,
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, insolvency_id) REFERENCES insolvencies (site_id, id)
);
CREATE INDEX recoveries_by_insolvency ON recoveries (site_id, insolvency_id, id);

-- The chain of facts (seals): docs/decisions/0005-verify.md.

-- Rows up to this id need no digest. It is 0: only large books made for measurements raise it.
CREATE TABLE fact_starts (
    name  TEXT   NOT NULL PRIMARY KEY, -- of the table
    up_to BIGINT NOT NULL
);
INSERT INTO fact_starts (name, up_to) VALUES
    ('bookings', 0), ('transactions', 0), ('payments', 0), ('allocations', 0), ('allocation_terms', 0), ('allocation_events', 0),
    ('premium_lines', 0), ('booking_totals', 0), ('statements', 0), ('statement_payments', 0);

-- How far the rows of a table are sealed. Ids become visible out of order, so rows are sealed some time after the last id was
-- seen: whatever has a lower id is visible or gone by then.
CREATE TABLE fact_marks (
    site_id   BIGINT NOT NULL, -- 0: rows that belong to no site
    name      TEXT   NOT NULL, -- of the table
    sealed_to BIGINT NOT NULL, -- rows up to this id are sealed
    seen_to   BIGINT NOT NULL, -- the last id that was seen
    seen_at   BIGINT NOT NULL, -- by the real clock
    PRIMARY KEY (site_id, name)
);

-- The chain of seals of a site. Each seals the rows of one table within a range of ids, and holds the hash of the seal before.
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

-- The end of a site's chain. Updating the row is the lock under which seals get their numbers.
CREATE TABLE fact_heads (
    site_id   BIGINT NOT NULL PRIMARY KEY,
    number    BIGINT NOT NULL, -- of the last seal; 0: none yet
    hash      TEXT   NOT NULL, -- of the last seal
    sealed_at BIGINT NOT NULL
);

-- Checks of the whole book (verify).

-- Checks of the whole book, requested on a page. They belong to no site: site_id is 0. Instants are by the real clock.
CREATE TABLE verify_runs (
    site_id  BIGINT NOT NULL,
    id       {{serial}},
    state    TEXT   NOT NULL, -- asked, running, done, failed or stopped
    asked_by TEXT   NOT NULL,
    asked_at BIGINT NOT NULL,
    began_at BIGINT,
    beat_at  BIGINT,          -- heartbeat
    tries    BIGINT NOT NULL,
    progress TEXT   NOT NULL, -- in words
    ended_at BIGINT,
    findings BIGINT NOT NULL,
    result   TEXT   NOT NULL, -- JSON: the checks added up over the sites, and the first findings
    problem  TEXT   NOT NULL, -- why it failed
    {{key}} (site_id, id)
);
CREATE INDEX verify_runs_by_state ON verify_runs (site_id, state, id);

-- Disputes (disputes, R14).

-- A case of a processor. Its state follows from its events and postings.
CREATE TABLE disputes (
    site_id             BIGINT NOT NULL,
    id                  {{serial}},
    source              TEXT   NOT NULL, -- the processor; manual where a person recorded it
    case_id             TEXT   NOT NULL, -- the processor's id of the case
    channel_id          BIGINT,          -- of the payment, or of the merchant that the processor names; NULL: not known
    transaction_id      BIGINT,          -- the payment; NULL: not matched
    matching            TEXT   NOT NULL, -- matched, queue or unmatched
    rule                TEXT   NOT NULL, -- of the match; '' if unmatched
    rule_version        TEXT   NOT NULL,
    score               BIGINT NOT NULL, -- 0 where another rule matched it
    candidates          TEXT   NOT NULL, -- JSON: payments with their points, the best first; opaque to SQL
    stage               TEXT   NOT NULL,
    status              TEXT   NOT NULL,
    reason_code         TEXT   NOT NULL, -- the scheme's or processor's; '' where unknown
    reason              TEXT   NOT NULL, -- in the processor's words
    reason_family       TEXT   NOT NULL, -- services_not_provided, credit_not_processed or other; '' where unknown
    scheme              TEXT   NOT NULL, -- of the payment's card, else as reported; '' where unknown
    due_day             BIGINT,          -- last day to answer; NULL where unknown
    assignee            TEXT   NOT NULL, -- username; '' if unassigned
    merchant            TEXT   NOT NULL, -- as the processor names it
    clues               TEXT   NOT NULL, -- JSON: reported details of the payment; opaque to SQL
    acquirer_reference  TEXT   NOT NULL, -- from the clues, as the next four: matched again when a payment arrives
    processor_reference TEXT   NOT NULL,
    processor_alias     TEXT   NOT NULL,
    payment_reference   TEXT   NOT NULL,
    last_four           TEXT   NOT NULL,
    amount              BIGINT NOT NULL, -- disputed, as reported
    currency            TEXT   NOT NULL,
    base_currency       TEXT   NOT NULL, -- of the payment; '' if unmatched
    debits              BIGINT NOT NULL, -- minor units of base_currency, as in the ledger
    credits             BIGINT NOT NULL,
    opened_day          BIGINT NOT NULL, -- of the first event
    waiting             BIGINT NOT NULL, -- movements of a matched case that wait for a rate
    alerted_day         BIGINT,          -- the due_day for which an alert was recorded
    tried_at            BIGINT NOT NULL, -- last attempt to match the case or to convert waiting movements
    version             BIGINT NOT NULL, -- taking it is the lock on the case
    created_at          BIGINT NOT NULL,
    modified_at         BIGINT NOT NULL,
    UNIQUE (site_id, source, case_id),
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id),
    FOREIGN KEY (site_id, transaction_id) REFERENCES transactions (site_id, id)
);
CREATE INDEX disputes_by_transaction ON disputes (site_id, transaction_id, id) WHERE transaction_id IS NOT NULL;
CREATE INDEX disputes_by_due ON disputes (site_id, due_day, id) WHERE status = 'open';
CREATE INDEX disputes_by_modified ON disputes (site_id, modified_at, id);
-- Cases that wait for a payment, by the fields that can identify it.
CREATE INDEX disputes_wait_acquirer ON disputes (site_id, acquirer_reference) WHERE matching <> 'matched' AND acquirer_reference <> '';
CREATE INDEX disputes_wait_processor ON disputes (site_id, processor_reference) WHERE matching <> 'matched' AND processor_reference <> '';
CREATE INDEX disputes_wait_alias ON disputes (site_id, processor_alias) WHERE matching <> 'matched' AND processor_alias <> '';
CREATE INDEX disputes_wait_reference ON disputes (site_id, payment_reference) WHERE matching <> 'matched' AND payment_reference <> '';
CREATE INDEX disputes_wait_last_four ON disputes (site_id, last_four) WHERE matching <> 'matched' AND last_four <> '';
CREATE INDEX disputes_wait_rate ON disputes (site_id, tried_at, id) WHERE waiting > 0;

-- Reports about a case, and actions of people. Append-only.
CREATE TABLE dispute_events (
    site_id     BIGINT    NOT NULL,
    id          {{serial}},
    dispute_id  BIGINT    NOT NULL,
    kind        TEXT      NOT NULL, -- '' for a change of state; debit, credit, fee, prevented; note, match, unmatch, assign, alert, clues
    number      BIGINT    NOT NULL, -- of the movement; 0 where unknown
    day         BIGINT,             -- NULL where unknown: the day of receipt counts
    at          BIGINT,             -- the instant; NULL where unknown
    stage       TEXT      NOT NULL,
    status      TEXT      NOT NULL,
    amount      BIGINT    NOT NULL, -- as reported, minor units of currency
    currency    TEXT      NOT NULL,
    whole       BOOLEAN   NOT NULL, -- it is the whole payment
    due_day     BIGINT,
    reason_code TEXT      NOT NULL,
    reason      TEXT      NOT NULL,
    refers_to   TEXT      NOT NULL,
    source      TEXT      NOT NULL, -- as reported: with case_id, the key of the case
    case_id     TEXT      NOT NULL,
    merchant    TEXT      NOT NULL,
    clues       TEXT      NOT NULL, -- JSON: reported details of the payment, opaque to SQL; '' if none
    same_as     BIGINT,             -- the event that this one repeats with something added
    object_id   BIGINT,             -- of a match and its undoing: the payment
    rule        TEXT      NOT NULL, -- of a match
    rule_version TEXT     NOT NULL,
    score       BIGINT    NOT NULL,
    points      TEXT      NOT NULL, -- JSON: the parts of the score; '' where another rule matched it, opaque to SQL
    note        TEXT      NOT NULL, -- text of a note, reason of an action, or assignee
    origin      TEXT      NOT NULL, -- source: processor, file, transaction, person
    raw         TEXT      NOT NULL, -- as received, opaque to SQL
    author_id   BIGINT    NOT NULL,
    author      TEXT      NOT NULL,
    received_at BIGINT    NOT NULL,
    digest      {{bytes}} NOT NULL DEFAULT '',
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, dispute_id) REFERENCES disputes (site_id, id)
);
CREATE INDEX dispute_events_by_dispute ON dispute_events (site_id, dispute_id, id);

-- Postings of a movement in the ledger. Append-only.
CREATE TABLE dispute_postings (
    site_id        BIGINT    NOT NULL,
    id             {{serial}},
    dispute_id     BIGINT    NOT NULL,
    event_id       BIGINT    NOT NULL,
    transaction_id BIGINT    NOT NULL, -- the payment
    movement_id    BIGINT    NOT NULL, -- the transaction that records it: a chargeback, a prevented dispute or a reversal
    kind           TEXT      NOT NULL, -- debit, credit or prevented
    paid           BIGINT    NOT NULL, -- minor units of the payment's currency
    base           BIGINT    NOT NULL, -- minor units of its base currency
    converted      BOOLEAN   NOT NULL, -- at a fixing, from a third currency
    day            BIGINT    NOT NULL, -- of the event, when this was recorded
    undoes         BIGINT,             -- the posting reversed by this one, because the case was matched to another payment
    recorded_at    BIGINT    NOT NULL,
    digest         {{bytes}} NOT NULL DEFAULT '',
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, dispute_id) REFERENCES disputes (site_id, id),
    FOREIGN KEY (site_id, event_id) REFERENCES dispute_events (site_id, id),
    FOREIGN KEY (site_id, transaction_id) REFERENCES transactions (site_id, id),
    FOREIGN KEY (site_id, movement_id) REFERENCES transactions (site_id, id)
);
CREATE INDEX dispute_postings_by_dispute ON dispute_postings (site_id, dispute_id, id);
CREATE INDEX dispute_postings_by_transaction ON dispute_postings (site_id, transaction_id, id);
CREATE UNIQUE INDEX dispute_postings_by_movement ON dispute_postings (site_id, movement_id);

-- Files that people attached to a case. Append-only.
CREATE TABLE dispute_evidence (
    site_id    BIGINT    NOT NULL,
    id         {{serial}},
    dispute_id BIGINT    NOT NULL,
    name       TEXT      NOT NULL,
    type       TEXT      NOT NULL, -- pdf, png or jpeg
    size       BIGINT    NOT NULL, -- in bytes
    sha256     TEXT      NOT NULL, -- in hexadecimal
    note       TEXT      NOT NULL,
    author_id  BIGINT    NOT NULL,
    author     TEXT      NOT NULL,
    added_at   BIGINT    NOT NULL,
    digest     {{bytes}} NOT NULL DEFAULT '',
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, dispute_id) REFERENCES disputes (site_id, id)
);
CREATE INDEX dispute_evidence_by_dispute ON dispute_evidence (site_id, dispute_id, id);
CREATE TABLE dispute_evidence_pieces (
    site_id     BIGINT    NOT NULL,
    evidence_id BIGINT    NOT NULL,
    number      BIGINT    NOT NULL, -- from 0
    body        {{bytes}} NOT NULL,
    PRIMARY KEY (site_id, evidence_id, number),
    FOREIGN KEY (site_id, evidence_id) REFERENCES dispute_evidence (site_id, id)
);

-- The channels of merchants that processors name in their own way. A person keeps them when matching.
CREATE TABLE dispute_merchants (
    site_id    BIGINT NOT NULL,
    name       TEXT   NOT NULL, -- as in the file
    channel_id BIGINT NOT NULL,
    author     TEXT   NOT NULL,
    added_at   BIGINT NOT NULL,
    PRIMARY KEY (site_id, name),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id)
);

-- Files of processors that were uploaded. A job imports them.
CREATE TABLE dispute_files (
    site_id     BIGINT  NOT NULL,
    id          {{serial}},
    state       TEXT    NOT NULL, -- receiving, queued, done or failed
    dry_run     BOOLEAN NOT NULL,
    format      TEXT    NOT NULL, -- as recognised
    sha256      TEXT    NOT NULL, -- in hexadecimal
    size        BIGINT  NOT NULL, -- in bytes
    lines       BIGINT  NOT NULL, -- of the file
    done        BIGINT  NOT NULL, -- lines that have a result
    results     BIGINT  NOT NULL, -- rows of dispute_file_lines
    matched     BIGINT  NOT NULL, -- results, as in dispute_file_lines
    queued      BIGINT  NOT NULL,
    unmatched   BIGINT  NOT NULL,
    repeated    BIGINT  NOT NULL,
    ignored     BIGINT  NOT NULL,
    refused     BIGINT  NOT NULL,
    problem     TEXT    NOT NULL, -- why it failed
    author_id   BIGINT  NOT NULL,
    author      TEXT    NOT NULL,
    token_id    BIGINT  NOT NULL, -- API token it was sent with; the import ends with it; 0: none
    tries       BIGINT  NOT NULL, -- runs since the last line was done
    ran_at      BIGINT  NOT NULL, -- when its last run began
    created_at  BIGINT  NOT NULL,
    modified_at BIGINT  NOT NULL,
    finished_at BIGINT,
    {{key}} (site_id, id),
    FOREIGN KEY (site_id) REFERENCES sites (id)
);
CREATE INDEX dispute_files_queued ON dispute_files (ran_at) WHERE state = 'queued';
CREATE TABLE dispute_file_pieces (
    site_id BIGINT    NOT NULL,
    file_id BIGINT    NOT NULL,
    number  BIGINT    NOT NULL, -- from 0
    body    {{bytes}} NOT NULL, -- lines as they were understood, without card numbers
    PRIMARY KEY (site_id, file_id, number),
    FOREIGN KEY (site_id, file_id) REFERENCES dispute_files (site_id, id)
);
CREATE TABLE dispute_file_lines (
    site_id    BIGINT NOT NULL,
    file_id    BIGINT NOT NULL,
    id         BIGINT NOT NULL, -- of the result, from 1: a line can have several
    line       BIGINT NOT NULL,
    outcome    TEXT   NOT NULL, -- matched, queue, unmatched, repeated, ignored or refused
    dispute_id BIGINT,          -- NULL: none, or a dry run
    source     TEXT   NOT NULL,
    case_id    TEXT   NOT NULL,
    kind       TEXT   NOT NULL,
    message    TEXT   NOT NULL,
    PRIMARY KEY (site_id, file_id, id),
    FOREIGN KEY (site_id, file_id) REFERENCES dispute_files (site_id, id)
);

-- Up to which payments a site's cases were tried.
CREATE TABLE dispute_marks (
    site_id BIGINT NOT NULL,
    up_to   BIGINT NOT NULL, -- modified_at of a transaction
    PRIMARY KEY (site_id)
);
