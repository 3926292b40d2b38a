-- When each change of the buckets was recorded, by the clock of its site, so that a report of what was known at an instant
-- adds up those up to then. What is older than this migration does not tell: a report of an instant before known_since
-- reads the allocations.
ALTER TABLE exposure_deltas ADD COLUMN known_at BIGINT NOT NULL DEFAULT 0; -- when it was recorded; 0: before known_since
ALTER TABLE exposure_buckets ADD COLUMN final_known BIGINT NOT NULL DEFAULT 0; -- when the last of them was recorded
ALTER TABLE exposure_buckets ADD COLUMN known {{bytes}} NOT NULL DEFAULT ''; -- when each was, opaque to SQL; '': all before known_since
CREATE INDEX exposure_buckets_by_known ON exposure_buckets (site_id, final_known);

ALTER TABLE exposure_folds ADD COLUMN known_since BIGINT NOT NULL DEFAULT 0;
INSERT INTO exposure_folds (site_id, version)
SELECT s.id, 0 FROM sites s WHERE s.id NOT IN (SELECT f.site_id FROM exposure_folds f);
UPDATE exposure_folds SET known_since = COALESCE((SELECT MAX(k.at) FROM (
    SELECT t.recorded_at AS at FROM allocation_terms t WHERE t.site_id = exposure_folds.site_id
    UNION ALL SELECT e.recorded_at FROM allocation_events e WHERE e.site_id = exposure_folds.site_id
    UNION ALL SELECT a.priced_at FROM allocations a WHERE a.site_id = exposure_folds.site_id
    UNION ALL SELECT c.changed_at FROM booking_totals c WHERE c.site_id = exposure_folds.site_id) k), 0);

-- What takes effect between two days: a movement reads those allocations alone.
CREATE INDEX allocations_by_effect ON allocations (site_id, effective_at);
CREATE INDEX allocation_terms_by_effect ON allocation_terms (site_id, effective_at);
CREATE INDEX allocation_events_by_effect ON allocation_events (site_id, effective_at);
