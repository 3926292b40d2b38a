-- The turnover of a channel by month, for the model (R7): what is added up stands in the index itself.
CREATE INDEX transactions_turnover ON transactions (site_id, channel_id, effective_at, created_at, type, status, base_total)
	WHERE method = 'credit-card' AND NOT simulated;
