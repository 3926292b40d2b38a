-- What ends by the clock is told once, as an event: docs/decisions/0008-events.md. What had ended before this migration is not
-- told any more.
ALTER TABLE bookings ADD COLUMN completed BOOLEAN NOT NULL DEFAULT FALSE; -- the event booking.completed was recorded
UPDATE bookings SET completed = TRUE WHERE status = 'paid' AND end_day <
    (SELECT MAX(o.modified_at) FROM bookings o WHERE o.site_id = bookings.site_id) / 86400000000;
CREATE INDEX bookings_to_complete ON bookings (site_id, end_day) WHERE status = 'paid' AND NOT completed;

ALTER TABLE allocations ADD COLUMN ends_after BIGINT NOT NULL DEFAULT 0; -- the last day of dispute of its latest terms
ALTER TABLE allocations ADD COLUMN ended BOOLEAN NOT NULL DEFAULT TRUE; -- it was never protected, or protection.ended was recorded
UPDATE allocations SET
    ends_after = COALESCE((SELECT t.last_day FROM allocation_terms t WHERE t.site_id = allocations.site_id
        AND t.allocation_id = allocations.id ORDER BY t.id DESC LIMIT 1), 0),
    ended = FALSE
WHERE protected;
UPDATE allocations SET ended = TRUE WHERE ends_after <
    (SELECT MAX(o.modified_at) FROM bookings o WHERE o.site_id = allocations.site_id) / 86400000000;
CREATE INDEX allocations_to_end ON allocations (site_id, ends_after) WHERE NOT ended;
