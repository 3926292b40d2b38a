-- Sites take turns: the due mails of one site are found in their order, without those of the others.
CREATE INDEX mails_in_turns ON mails (site_id, state, next_at) WHERE next_at IS NOT NULL;
