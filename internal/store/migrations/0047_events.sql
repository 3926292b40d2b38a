-- SQLite finds an event by its id, which is the key of the table. The index of site and id was one more, of which nobody asked anything.
-- PostgreSQL has no such constraint: there, site and id are the key.
ALTER TABLE events DROP CONSTRAINT IF EXISTS events_site_id_id_key;
