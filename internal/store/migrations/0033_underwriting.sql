-- What a merchant says of itself to have a channel protected, and how far that is. Times are those of the real clock.
CREATE TABLE protection_requests (
    site_id     BIGINT NOT NULL,
    channel_id  BIGINT NOT NULL,
    state       TEXT   NOT NULL, -- writing, asked, questions, taken or refused
    facts       TEXT   NOT NULL, -- what it says, as JSON
    note        TEXT   NOT NULL, -- the last word of the operator
    asked_by    TEXT   NOT NULL,
    asked_at    BIGINT,
    answered_by TEXT   NOT NULL,
    answered_at BIGINT,
    version     BIGINT NOT NULL,
    modified_at BIGINT NOT NULL,
    PRIMARY KEY (site_id, channel_id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id)
);
CREATE INDEX protection_requests_by_state ON protection_requests (state, asked_at, site_id, channel_id);

CREATE TABLE protection_documents (
    site_id     BIGINT NOT NULL,
    id          {{serial}},
    channel_id  BIGINT NOT NULL,
    name        TEXT   NOT NULL,
    type        TEXT   NOT NULL, -- as its content shows: pdf, png or jpeg
    size        BIGINT NOT NULL, -- in bytes
    sha256      TEXT   NOT NULL, -- in hexadecimal
    added_by    TEXT   NOT NULL,
    added_at    BIGINT NOT NULL,
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, channel_id) REFERENCES protection_requests (site_id, channel_id)
);
CREATE INDEX protection_documents_by_channel ON protection_documents (site_id, channel_id, id);

CREATE TABLE protection_pieces (
    site_id     BIGINT    NOT NULL,
    document_id BIGINT    NOT NULL,
    number      BIGINT    NOT NULL, -- from 0
    body        {{bytes}} NOT NULL,
    PRIMARY KEY (site_id, document_id, number),
    FOREIGN KEY (site_id, document_id) REFERENCES protection_documents (site_id, id)
);
