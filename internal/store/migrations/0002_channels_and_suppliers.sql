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
    UNIQUE (site_id, slug),
    UNIQUE (site_id, id, currencies),
    {{key}} (site_id, id)
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
