-- The turnover of a channel by month, for the model (R7): all that is asked stands in the index itself. SQLite wants the columns of
-- its condition, too.
CREATE INDEX transactions_turnover ON transactions (site_id, channel_id, effective_at, created_at, type, status, base_total, method, simulated)
	WHERE method = 'credit-card' AND NOT simulated;
