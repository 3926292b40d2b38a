-- Whether a user is who the e-mail address says: the operator made the account, or nobody but the owner of the address got the link that
-- opens it. Nobody knows that of those who were invited before there was this column.
ALTER TABLE users ADD COLUMN proven BOOLEAN NOT NULL DEFAULT TRUE;
UPDATE users SET proven = FALSE WHERE NOT operator AND EXISTS (
    SELECT 1 FROM audit_records a WHERE a.action = 'user.invite' AND a.object = 'user ' || users.id);
