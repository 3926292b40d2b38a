-- The API token with which an import was sent or confirmed; 0 without one. When it is gone, the import ends.
ALTER TABLE imports ADD COLUMN token_id BIGINT NOT NULL DEFAULT 0;
