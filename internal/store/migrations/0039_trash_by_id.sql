-- The trash up to a booking: lists pass over the bookings before a page without reading them.
DROP INDEX bookings_deleted;
CREATE INDEX bookings_deleted ON bookings (site_id, id) WHERE deleted;
