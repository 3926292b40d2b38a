-- What a proposal would change, as JSON, for whoever decides on it; '' where nobody knows.
ALTER TABLE proposals ADD COLUMN effect TEXT NOT NULL DEFAULT '';
