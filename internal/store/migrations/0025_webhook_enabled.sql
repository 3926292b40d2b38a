-- When a webhook was enabled again. What waited for it meanwhile is tried for three days from then on: docs/decisions/0010-webhooks.md.
ALTER TABLE webhook_endpoints ADD COLUMN enabled_at BIGINT NOT NULL DEFAULT 0; -- by the real clock; 0: since it was made
