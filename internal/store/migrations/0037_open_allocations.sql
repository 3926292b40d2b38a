-- A list of what is at risk reads the allocations that can be, and not the years before: docs/performance.md. closed: the last day of
-- dispute and the trip are over. It follows ends_after, which is now kept for what was never protected, too.
ALTER TABLE allocations ADD COLUMN closed BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE allocations SET ends_after = COALESCE((SELECT t.last_day FROM allocation_terms t WHERE t.site_id = allocations.site_id
    AND t.allocation_id = allocations.id ORDER BY t.id DESC LIMIT 1), 0), ended = FALSE
WHERE NOT protected OR ends_after = 0;
-- No clock was earlier than the last change of a booking.
UPDATE allocations SET ended = TRUE WHERE NOT ended AND ends_after <
    (SELECT MAX(o.modified_at) FROM bookings o WHERE o.site_id = allocations.site_id) / 86400000000;
UPDATE allocations SET closed = TRUE WHERE ended AND ends_after <
    (SELECT MAX(o.modified_at) FROM bookings o WHERE o.site_id = allocations.site_id) / 86400000000
    AND (SELECT b.end_day FROM bookings b WHERE b.site_id = allocations.site_id AND b.id = allocations.booking_id) <
    (SELECT MAX(o.modified_at) FROM bookings o WHERE o.site_id = allocations.site_id) / 86400000000;
CREATE INDEX allocations_open ON allocations (site_id, closed, booking_id, id, channel_id) WHERE closed = FALSE;
