-- A report that is kept says until when it is right: up to the next instant at which a rate begins or ends to count.
CREATE INDEX fixings_by_recording ON fixings (recorded_at);
CREATE INDEX fixings_that_expire ON fixings (expires_at) WHERE expires_at IS NOT NULL;
