-- An idempotency key belongs to its site, whoever sends it. Requests that an earlier program was still answering made nothing:
-- their keys are free. Of one key of two users, the first request counts.
CREATE TABLE keys_of_sites (
    site_id       BIGINT NOT NULL,
    key           TEXT   NOT NULL,
    request_hash  TEXT   NOT NULL, -- of method, address and body: the same key with another request is refused
    object_id     BIGINT,          -- what the request made, changed or removed
    proposal_id   BIGINT,          -- what it proposed instead, where another person has to agree
    claimed_until BIGINT NOT NULL, -- of a row without an outcome: its key is held until then
    created_at    BIGINT NOT NULL, -- so that old keys can be forgotten
    PRIMARY KEY (site_id, key)
);
INSERT INTO keys_of_sites (site_id, key, request_hash, object_id, proposal_id, claimed_until, created_at)
SELECT site_id, key, request_hash, object_id, proposal_id, claimed_until, created_at FROM idempotency_keys
WHERE object_id IS NOT NULL OR proposal_id IS NOT NULL
ORDER BY created_at, user_id
ON CONFLICT (site_id, key) DO NOTHING;
DROP TABLE idempotency_keys;
ALTER TABLE keys_of_sites RENAME TO idempotency_keys;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
