-- What happened, for the feed and for webhooks: docs/decisions/0008-events.md. A row is written in the write of the change.
-- It names the object and does not copy it. Rows are kept for 90 days.
CREATE TABLE events (
    site_id     BIGINT NOT NULL,
    id          {{serial}}, -- drawn before the commit, so rows become visible in another order
    position    BIGINT,          -- in the feed of the site: from 1 without gaps; NULL until the row was given its place
    type        TEXT   NOT NULL, -- such as booking.created; it says of which kind the object is
    object_id   BIGINT NOT NULL,
    at          BIGINT NOT NULL, -- when it happened, by the clock of the site
    recorded_at BIGINT NOT NULL, -- by the real clock
    details     TEXT   NOT NULL, -- JSON: what the event itself says
    {{key}} (site_id, id)
);
CREATE INDEX events_by_position ON events (site_id, position) WHERE position IS NOT NULL;
CREATE INDEX events_unplaced ON events (site_id, id) WHERE position IS NULL;
CREATE INDEX events_by_object ON events (site_id, object_id, position);

-- The end of the feed of a site. Taking the row is the lock under which events get their positions.
CREATE TABLE event_heads (
    site_id    BIGINT NOT NULL PRIMARY KEY,
    epoch      BIGINT NOT NULL, -- in every cursor; another one after a restore
    position   BIGINT NOT NULL, -- of the last event that has one
    removed_to BIGINT NOT NULL  -- events up to this position were removed
);
