-- What a dry run of a file has found for each channel, for the operator who approves the import.
CREATE TABLE import_shares (
    site_id    BIGINT  NOT NULL,
    import_id  BIGINT  NOT NULL,
    channel    TEXT    NOT NULL, -- its name
    created    BOOLEAN NOT NULL, -- the import would create it
    mode       TEXT    NOT NULL,
    currency   TEXT    NOT NULL, -- of the sums
    payments   BIGINT  NOT NULL, -- those that would be created
    added      BIGINT  NOT NULL,
    taken      BIGINT  NOT NULL,
    first_paid TEXT    NOT NULL, -- days, such as 2026-03-31
    last_paid  TEXT    NOT NULL,
    PRIMARY KEY (site_id, import_id, channel),
    FOREIGN KEY (site_id, import_id) REFERENCES imports (site_id, id)
);
ALTER TABLE imports ADD COLUMN tried_created BIGINT NOT NULL DEFAULT 0; -- bookings that its dry run would create
ALTER TABLE imports ADD COLUMN tried_there   BIGINT NOT NULL DEFAULT 0; -- bookings that its dry run found

-- Dry runs from before have kept no shares. They are made again.
DELETE FROM import_rows WHERE trial AND EXISTS (SELECT 1 FROM imports i WHERE i.site_id = import_rows.site_id
    AND i.id = import_rows.import_id AND i.state IN ('queued', 'tried'));
UPDATE imports SET state = 'queued', rows_done = 0, bookings_created = 0, payments_created = 0, payments_there = 0, refused = 0,
    channels = '[]', tries = 0, finished_at = NULL
WHERE trial AND state IN ('queued', 'tried');

-- Sites take turns: which one was served last.
CREATE INDEX imports_by_run ON imports (site_id, ran_at);
