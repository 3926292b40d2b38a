-- Whoever reads a site's payments first ends the authorisations whose time is over. This finds them without reading others.
CREATE INDEX transactions_open_of_site ON transactions (site_id, type, status, effective_at)
	WHERE type = 'authorize' AND status = 'complete' AND remaining > 0;
