-- A line of the running use stays while some recognition finds a part of the allocation undelivered, also if its amount is
-- 0. Before, a line of 0 was removed, and another recognition did not find it any more. The job computes these lines on
-- the next day.
INSERT INTO limit_lines (site_id, allocation_id, channel_id, amount, currency, due_day)
SELECT a.site_id, a.id, a.channel_id, 0, a.policy_currency, k.day + 1
FROM limit_books k
JOIN allocations a ON a.site_id = k.site_id
JOIN bookings b ON b.site_id = a.site_id AND b.id = a.booking_id
WHERE a.protected AND NOT a.simulated AND a.priced_at IS NOT NULL AND b.end_day >= k.day
    AND NOT EXISTS (SELECT 1 FROM limit_lines l WHERE l.site_id = a.site_id AND l.allocation_id = a.id);

-- A new policy is a change, too (kind policy): the running use goes by it from its place in the order.
CREATE INDEX limit_changes_of_policies ON limit_changes (site_id, recorded_at) WHERE kind = 'policy';
