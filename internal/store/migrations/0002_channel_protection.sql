-- Since when card payments of a channel are protected, or are not (R2). E4 counts the bookings of channels that are
-- protected on the day of a report (R7).
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

-- What a channel was earlier is not on record: it counts as what it is now.
INSERT INTO channel_protection (site_id, channel_id, recorded_at, protected)
SELECT site_id, id, created_at, NOT locked AND (account_mode = 'protection-only'
    OR account_mode = 'live' AND account_type = 'protected-processing' OR was_test AND account_mode = 'test')
FROM channels ORDER BY site_id, id;
