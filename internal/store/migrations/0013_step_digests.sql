-- What each step was, so that a schema of another line is noticed: SHA-256 of its text. '' for steps of which it is not
-- known.
ALTER TABLE schema_migrations ADD COLUMN digest TEXT NOT NULL DEFAULT '';

-- Whether the database takes writes, for /readyz: one row, written anew at each try.
CREATE TABLE write_tries (
    name     TEXT      NOT NULL PRIMARY KEY,
    tried_at BIGINT    NOT NULL,
    filler   {{bytes}} NOT NULL -- as much as a small change of the book takes
);
