-- Most payments adjust nothing, and an event is not looked for by its object before it has its position: these indexes need no entry for
-- them. So a payment writes some entries less.
DROP INDEX transactions_by_linked;
CREATE INDEX transactions_by_linked ON transactions (site_id, linked_id, id) WHERE linked_id IS NOT NULL;
DROP INDEX payments_by_linked;
CREATE INDEX payments_by_linked ON payments (site_id, linked_id) WHERE linked_id IS NOT NULL;
DROP INDEX events_by_object;
CREATE INDEX events_by_object ON events (site_id, object_id, position) WHERE position IS NOT NULL;
