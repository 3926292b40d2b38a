-- What an API token is limited to. '' is no limit: so it is for all tokens of before.
ALTER TABLE api_tokens ADD COLUMN abilities TEXT NOT NULL DEFAULT ''; -- their names, with commas
ALTER TABLE api_tokens ADD COLUMN addresses TEXT NOT NULL DEFAULT ''; -- networks from which it may be used, with spaces
