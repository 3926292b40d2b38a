-- An API token ends with the access of its creator, and does not come back with it. Tokens whose creators have lost
-- their access since are deleted, also where they have got it back: such a token is older than the access.
DELETE FROM api_tokens
WHERE NOT EXISTS (SELECT 1 FROM memberships m
        WHERE m.site_id = api_tokens.site_id AND m.user_id = api_tokens.user_id AND m.created_at <= api_tokens.created_at)
    AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id = api_tokens.user_id AND u.operator);

-- A token of another site is told from one that does not exist.
CREATE UNIQUE INDEX api_tokens_by_id ON api_tokens (id);

-- An access token has the generation of its refresh token, and ends with it. A new password begins a generation, too, so
-- passwords need no count of their own.
ALTER TABLE users DROP COLUMN password_epoch;
