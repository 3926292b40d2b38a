-- How far the clock of a sandbox site is ahead of the real one, in microseconds (R0). It moves forward only.
ALTER TABLE sites ADD COLUMN clock_ahead BIGINT NOT NULL DEFAULT 0;

-- How the clocks of sandbox sites were moved. What is recorded by the real clock (fixings, logins) is placed on a
-- site's own clock by it.
CREATE TABLE clock_moves (
    site_id  BIGINT NOT NULL REFERENCES sites (id),
    id       {{serial}},
    moved_at BIGINT NOT NULL, -- by the real clock
    ahead    BIGINT NOT NULL, -- from then on
    {{key}} (site_id, id)
);
