-- Webhooks: docs/decisions/0010-webhooks.md. Every instant here is by the real clock: receivers live by it.
CREATE TABLE webhook_endpoints (
    site_id       BIGINT NOT NULL,
    id            {{serial}},
    version       BIGINT NOT NULL,
    url           TEXT   NOT NULL,
    types         TEXT   NOT NULL, -- such as booking.*, with spaces between them; '' for all
    state         TEXT   NOT NULL, -- enabled, disabled, or deleted: its rows are being removed
    reason        TEXT   NOT NULL, -- why it was disabled; '' while it is enabled
    position      BIGINT NOT NULL, -- in the feed: up to there each event has its delivery
    failures      BIGINT NOT NULL, -- in a row
    failing_since BIGINT NOT NULL, -- the first of these failures; 0 after a success
    retry_at      BIGINT NOT NULL, -- nothing is sent before that
    slow          BIGINT NOT NULL, -- 1 if its last answer took long
    created_by    TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    modified_at   BIGINT NOT NULL,
    {{key}} (site_id, id)
);

-- The secrets that sign. At most two of an endpoint are valid at the same time.
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

-- What is to be sent to an endpoint, and what was.
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
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (site_id, endpoint_id, next_at) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_in_order ON webhook_deliveries (site_id, endpoint_id, kind, object_id, id) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_done ON webhook_deliveries (done_at) WHERE state <> 'waiting';

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
