-- Files of bookings and payments that came over HTTP. Their times are those of the real clock.
CREATE TABLE imports (
    site_id              BIGINT  NOT NULL,
    id                   {{serial}},
    state                TEXT    NOT NULL, -- receiving, queued, tried, waiting, done, failed or dropped
    trial                BOOLEAN NOT NULL, -- a dry run: nothing stays but its rows
    mode                 TEXT    NOT NULL, -- of the channels that it creates; '' when it creates none
    cover_from_effective BOOLEAN NOT NULL,
    reason               TEXT    NOT NULL, -- for the other operator, where one has to approve
    sha256               TEXT    NOT NULL, -- of the file, in hexadecimal
    size                 BIGINT  NOT NULL, -- of the file, in bytes
    rows_found           BIGINT  NOT NULL,
    rows_done            BIGINT  NOT NULL,
    bookings_created     BIGINT  NOT NULL,
    payments_created     BIGINT  NOT NULL,
    payments_there       BIGINT  NOT NULL,
    refused              BIGINT  NOT NULL,
    channels             TEXT    NOT NULL, -- the names of those that it created, as JSON
    proposal_id          BIGINT,           -- what another operator has to approve
    problem              TEXT    NOT NULL, -- why it failed
    author_id            BIGINT  NOT NULL,
    author               TEXT    NOT NULL,
    author_name          TEXT    NOT NULL,
    tries                BIGINT  NOT NULL, -- runs since the last row was done
    ran_at               BIGINT  NOT NULL, -- when its last run began
    created_at           BIGINT  NOT NULL,
    finished_at          BIGINT,
    {{key}} (site_id, id),
    FOREIGN KEY (site_id) REFERENCES sites (id)
);
CREATE INDEX imports_by_state ON imports (state, site_id, id);

-- The file of an import, while it is needed.
CREATE TABLE import_pieces (
    site_id   BIGINT    NOT NULL,
    import_id BIGINT    NOT NULL,
    number    BIGINT    NOT NULL, -- from 0
    body      {{bytes}} NOT NULL,
    PRIMARY KEY (site_id, import_id, number),
    FOREIGN KEY (site_id, import_id) REFERENCES imports (site_id, id)
);

-- What became of each row. Those of a real import are written with what they made.
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
