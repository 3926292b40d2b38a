-- What a processor was asked to do for a transaction, and what is known of that. Written before the processor is called,
-- so that a call whose answer is lost, or whose caller dies, is found and asked about.
CREATE TABLE processings (
    site_id           BIGINT  NOT NULL,
    transaction_id    BIGINT  NOT NULL,
    channel_id        BIGINT  NOT NULL,
    operation         TEXT    NOT NULL, -- authorize, purchase, capture, refund or void
    reference         TEXT    NOT NULL UNIQUE, -- ours, by which the processor knows the request again
    processor         TEXT    NOT NULL, -- such as stripe
    live              BOOLEAN NOT NULL, -- real money; else the processor's test environment
    processor_id      TEXT    NOT NULL, -- the processor's own name of it; '' as long as it is not known
    original          TEXT    NOT NULL, -- processor_id of the charge that is adjusted; '' of a charge
    state             TEXT    NOT NULL, -- called, challenged, unknown, absent, settled or releasing
    reserved          BIGINT  NOT NULL, -- what of the original's remaining is kept for it, minor units; 0 once settled
    asked_for_at      BIGINT  NOT NULL, -- when the processor was called, by the real clock
    ask_at            BIGINT,           -- when to ask what became of it, by the real clock; NULL: nothing to ask
    asks              BIGINT  NOT NULL, -- in vain, so far
    return_key        TEXT    UNIQUE,   -- in the address to which a shopper comes back; NULL without 3DS
    challenge_type    TEXT    NOT NULL,
    challenge_value   TEXT    NOT NULL,
    decline           TEXT    NOT NULL, -- why money was refused, in our words
    code              TEXT    NOT NULL, -- the same in the processor's
    threeds_status    TEXT    NOT NULL,
    threeds_flow      TEXT    NOT NULL,
    threeds_eci       TEXT    NOT NULL,
    threeds_version   TEXT    NOT NULL,
    threeds_directory TEXT    NOT NULL, -- transaction id of the directory server
    liability_shift   BOOLEAN NOT NULL,
    PRIMARY KEY (site_id, transaction_id),
    FOREIGN KEY (site_id, transaction_id) REFERENCES transactions (site_id, id)
);
CREATE INDEX processings_due ON processings (ask_at) WHERE ask_at IS NOT NULL;
CREATE INDEX processings_by_name ON processings (site_id, channel_id, processor_id);

-- What processors said had happened. Nobody believes it: each is asked about, and kept so that it is asked about once.
CREATE TABLE processor_hints (
    site_id      BIGINT NOT NULL,
    channel_id   BIGINT NOT NULL,
    processor    TEXT   NOT NULL,
    event_id     TEXT   NOT NULL, -- the processor's, by which a repeated delivery is told
    reference    TEXT   NOT NULL, -- ours; '' where it was not said
    processor_id TEXT   NOT NULL, -- of the charge; '' where it was not said
    received_at  BIGINT NOT NULL, -- by the real clock
    ask_at       BIGINT,          -- by the real clock; NULL when it was asked about
    asks         BIGINT NOT NULL, -- in vain, so far
    PRIMARY KEY (site_id, channel_id, processor, event_id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id) ON DELETE CASCADE
);
CREATE INDEX processor_hints_due ON processor_hints (ask_at) WHERE ask_at IS NOT NULL;
CREATE INDEX processor_hints_done ON processor_hints (received_at) WHERE ask_at IS NULL;

-- How far the events of a channel's processor were read: the ones that no delivery came for are found there.
CREATE TABLE processor_feeds (
    site_id    BIGINT NOT NULL,
    channel_id BIGINT NOT NULL,
    processor  TEXT   NOT NULL,
    cursor     TEXT   NOT NULL, -- the processor's; '' before the first reading
    read_at    BIGINT NOT NULL, -- when to read next, by the real clock
    PRIMARY KEY (site_id, channel_id, processor),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id) ON DELETE CASCADE
);
CREATE INDEX processor_feeds_due ON processor_feeds (read_at);

-- How a chargeback stands: by hand of the operator, or as its processor tells.
CREATE TABLE disputes (
    site_id        BIGINT NOT NULL,
    transaction_id BIGINT NOT NULL, -- that is charged back
    chargeback_id  BIGINT NOT NULL, -- the transaction that records it
    reversal_id    BIGINT,          -- the one that records that the money came back; NULL: it did not
    processor_id   TEXT,            -- the processor's name of the dispute; NULL: recorded by hand
    outcome        TEXT   NOT NULL, -- pending, won or lost
    reason_code    TEXT   NOT NULL, -- the scheme's or processor's; '' where it was not said
    challenge_day  BIGINT,          -- until when it can be answered; NULL where it was not said
    PRIMARY KEY (site_id, chargeback_id),
    UNIQUE (site_id, transaction_id, processor_id),
    FOREIGN KEY (site_id, transaction_id) REFERENCES transactions (site_id, id),
    FOREIGN KEY (site_id, chargeback_id) REFERENCES transactions (site_id, id),
    FOREIGN KEY (site_id, reversal_id) REFERENCES transactions (site_id, id)
);
