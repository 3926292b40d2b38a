-- Names as the program uses them: a charge at a gateway, a notice of a processor, the events that are read from it.
ALTER TABLE processings RENAME TO gateway_charges;
DROP INDEX processings_due;
DROP INDEX processings_by_name;
CREATE INDEX gateway_charges_due ON gateway_charges (ask_at) WHERE ask_at IS NOT NULL;
CREATE INDEX gateway_charges_by_processor_id ON gateway_charges (site_id, channel_id, processor_id);

ALTER TABLE processor_hints RENAME TO processor_notices;
DROP INDEX processor_hints_due;
DROP INDEX processor_hints_done;
CREATE INDEX processor_notices_due ON processor_notices (ask_at) WHERE ask_at IS NOT NULL;
CREATE INDEX processor_notices_done ON processor_notices (received_at) WHERE ask_at IS NULL;

ALTER TABLE processor_feeds RENAME TO processor_events;
DROP INDEX processor_feeds_due;
CREATE INDEX processor_events_due ON processor_events (read_at);
