-- Mails, one row for each address that a letter goes to: docs/decisions/0009-mail.md. Instants are of the real clock.
CREATE TABLE mails (
    site_id        BIGINT  NOT NULL REFERENCES sites (id),
    id             {{serial}},
    event_id       BIGINT,           -- of the event that it tells; NULL: somebody asked for it
    number         BIGINT  NOT NULL, -- of the mails that tell the same event, from 1
    kind           TEXT    NOT NULL, -- receipt, refund, failure, chargeback, test or heads
    transaction_id BIGINT  NOT NULL, -- 0: it is about none
    booking_id     BIGINT  NOT NULL, -- 0: it is about none
    copy           BOOLEAN NOT NULL, -- to primary_mail, of a mail to the traveller
    recipient      TEXT    NOT NULL, -- the address; '' where there is none, or it was forgotten
    letter         TEXT    NOT NULL, -- JSON: what the text is made of; '' once it was forgotten
    state          TEXT    NOT NULL, -- outbox, waiting, sending, sent, dead or unknown
    answer         TEXT    NOT NULL, -- the last answer of the server, or what went wrong
    attempts       BIGINT  NOT NULL, -- since it was asked for
    resends        BIGINT  NOT NULL, -- how often somebody asked for it again
    queued_at      BIGINT  NOT NULL,
    asked_at       BIGINT  NOT NULL, -- when it was queued, or asked for again
    tried_at       BIGINT,           -- when the last attempt began
    next_at        BIGINT,           -- waiting: when it is tried; sending: when its outcome counts as unknown
    forget_at      BIGINT,           -- when address and letter are forgotten
    UNIQUE (site_id, event_id, number),
    {{key}} (site_id, id)
);
CREATE INDEX mails_due ON mails (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX mails_forget ON mails (forget_at) WHERE forget_at IS NOT NULL;
CREATE INDEX mails_tried ON mails (tried_at) WHERE tried_at IS NOT NULL;
CREATE INDEX mails_by_state ON mails (site_id, state, id);
CREATE INDEX mails_by_booking ON mails (site_id, booking_id);
CREATE INDEX mails_by_transaction ON mails (site_id, transaction_id);

-- How far the mails follow the events of a site.
CREATE TABLE mail_marks (
    site_id   BIGINT NOT NULL PRIMARY KEY REFERENCES sites (id),
    position  BIGINT NOT NULL, -- of the last event that has its mails
    unsure_to BIGINT NOT NULL  -- mails about events up to this id may have been sent before the database was restored
);
-- What has happened until now is no news.
INSERT INTO mail_marks (site_id, position, unsure_to) SELECT h.site_id, h.position, 0 FROM event_heads h;
