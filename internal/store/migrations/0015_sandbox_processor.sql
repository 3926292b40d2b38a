-- What the sandbox processor remembers. It stands for another company's memory, so it knows accounts instead of sites,
-- and nothing else in the database refers to it.
CREATE TABLE sandbox_charges (
    account     TEXT   NOT NULL, -- digest of the account's key
    reference   TEXT   NOT NULL, -- under which the charge was asked for
    version     BIGINT NOT NULL,
    entry       TEXT   NOT NULL, -- the charge and what was done to it, opaque to SQL
    dispute_at  BIGINT,          -- when the cardholder charges it back
    resolved_at BIGINT,          -- when the money comes back after that
    PRIMARY KEY (account, reference)
);
CREATE INDEX sandbox_charges_by_dispute ON sandbox_charges (account, dispute_at) WHERE dispute_at IS NOT NULL;
CREATE INDEX sandbox_charges_by_resolution ON sandbox_charges (account, resolved_at) WHERE resolved_at IS NOT NULL;
