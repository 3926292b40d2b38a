-- Reports that people get by mail, each week or month. due_at is the beginning of the day on which the next one is made, by the site's
-- clock; all other times are those of the real one. Site 0 has the reports over all sites.
CREATE TABLE standing_orders (
    site_id     BIGINT NOT NULL,
    id          {{serial}},
    name        TEXT   NOT NULL,
    view        TEXT   NOT NULL, -- the address of a page below its site, or for site 0 below the dashboard
    format      TEXT   NOT NULL, -- csv or xlsx
    every       TEXT   NOT NULL, -- week or month
    on_day      BIGINT NOT NULL, -- of the week from Monday, 1; or of the month
    owner_id    BIGINT NOT NULL REFERENCES users (id), -- with whose rights it is made
    state       TEXT   NOT NULL, -- active, paused or stopped
    reason      TEXT   NOT NULL, -- why it was stopped
    due_at      BIGINT NOT NULL,
    asked_at    BIGINT,          -- somebody wants one at once
    tries       BIGINT NOT NULL, -- that failed, of the one that is due
    retry_at    BIGINT,
    version     BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    modified_at BIGINT NOT NULL,
    {{key}} (site_id, id)
);
CREATE INDEX standing_orders_due ON standing_orders (state, due_at);

CREATE TABLE standing_recipients (
    site_id  BIGINT NOT NULL,
    order_id BIGINT NOT NULL,
    user_id  BIGINT NOT NULL REFERENCES users (id),
    PRIMARY KEY (site_id, order_id, user_id),
    FOREIGN KEY (site_id, order_id) REFERENCES standing_orders (site_id, id)
);

-- What became of each report: the receipt that makes it once.
CREATE TABLE standing_runs (
    site_id    BIGINT NOT NULL,
    id         {{serial}},
    order_id   BIGINT NOT NULL,
    occasion   TEXT   NOT NULL, -- the day that it was due, or when somebody asked for it
    outcome    TEXT   NOT NULL, -- sent, failed or skipped
    note       TEXT   NOT NULL,
    recipients BIGINT NOT NULL,
    file       TEXT   NOT NULL, -- its name; '' for none
    bytes      BIGINT NOT NULL,
    made_at    BIGINT NOT NULL,
    {{key}} (site_id, id),
    UNIQUE (site_id, order_id, occasion),
    FOREIGN KEY (site_id, order_id) REFERENCES standing_orders (site_id, id)
);

-- Files that mails have attached. Several mails may have the same.
CREATE TABLE mail_files (
    site_id BIGINT NOT NULL REFERENCES sites (id),
    id      {{serial}},
    name    TEXT   NOT NULL,
    type    TEXT   NOT NULL, -- as MIME writes it
    bytes   BIGINT NOT NULL,
    {{key}} (site_id, id)
);
CREATE TABLE mail_pieces (
    site_id BIGINT    NOT NULL,
    file_id BIGINT    NOT NULL,
    number  BIGINT    NOT NULL, -- from 0
    body    {{bytes}} NOT NULL,
    PRIMARY KEY (site_id, file_id, number),
    FOREIGN KEY (site_id, file_id) REFERENCES mail_files (site_id, id)
);
ALTER TABLE mails ADD COLUMN file_id BIGINT NOT NULL DEFAULT 0; -- 0: none
CREATE INDEX mails_by_file ON mails (site_id, file_id) WHERE file_id <> 0;
