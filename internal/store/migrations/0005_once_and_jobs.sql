-- Idempotency keys of requests that create something. A claim is taken before the work and finished in the same
-- transaction as the work.
CREATE TABLE idempotency_keys (
    site_id       BIGINT NOT NULL,
    user_id       BIGINT NOT NULL, -- two users may choose the same key
    key           TEXT   NOT NULL,
    request_hash  TEXT   NOT NULL, -- of route and body: the same key with another body is refused
    object_id     BIGINT,          -- what the request made; NULL while it is being answered
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
