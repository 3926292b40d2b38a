-- The audit is searched by who did something, and by what it was done to.
CREATE INDEX audit_records_by_user ON audit_records (site_id, username, id);
CREATE INDEX audit_records_by_object ON audit_records (site_id, object, id);
