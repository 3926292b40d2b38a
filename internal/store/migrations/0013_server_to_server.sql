-- The second table of section 2.3: what a channel has besides where it takes payments itself.
ALTER TABLE channels ADD COLUMN cardholder_present BOOLEAN NOT NULL DEFAULT FALSE;

ALTER TABLE channels ADD COLUMN mail_failures BOOLEAN NOT NULL DEFAULT FALSE;

ALTER TABLE channels ADD COLUMN server_to_server BOOLEAN NOT NULL DEFAULT FALSE;

ALTER TABLE channels ADD COLUMN chargeback_mail TEXT NOT NULL DEFAULT ''; -- comma-separated addresses

ALTER TABLE channels ADD COLUMN beneficiary_id TEXT NOT NULL DEFAULT '';

ALTER TABLE channels ADD COLUMN settlement_currency TEXT NOT NULL DEFAULT ''; -- '' follows the base currency

ALTER TABLE channels ADD COLUMN payout_minimum BIGINT NOT NULL DEFAULT 0; -- minor units of the settlement currency

ALTER TABLE channels ADD COLUMN descriptor TEXT NOT NULL DEFAULT ''; -- on the cardholder's statement

-- Of the access to processor and tokenizer the channel shows what is no secret; the secrets lie in channel_gateways.
ALTER TABLE channels ADD COLUMN processor TEXT NOT NULL DEFAULT ''; -- such as stripe; '' where none is set

ALTER TABLE channels ADD COLUMN tokenizer_id TEXT NOT NULL DEFAULT '';

ALTER TABLE channels ADD COLUMN tokenizer_key_end TEXT NOT NULL DEFAULT ''; -- last four characters; '' where no key is set

-- The secrets by which a channel takes payments, sealed by a key that is not in the database and bound to their place,
-- so that a sealed text is good for nothing in another row.
CREATE TABLE channel_gateways (
    site_id       BIGINT NOT NULL,
    channel_id    BIGINT NOT NULL,
    credentials   TEXT   NOT NULL, -- of the processor, sealed; '' where none are set
    tokenizer_key TEXT   NOT NULL, -- sealed; '' where none is set
    PRIMARY KEY (site_id, channel_id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id) ON DELETE CASCADE
);
