-- One-time links: with one of them somebody chooses a password, or takes up access to a site. A row is an open link.
CREATE TABLE password_links (
    user_id BIGINT NOT NULL REFERENCES users (id),
    hash    TEXT   NOT NULL, -- SHA-256 of the secret in the link
    secret  TEXT   NOT NULL, -- sealed: the mail that has the link is made when it is sent
    kind    TEXT   NOT NULL, -- invitation, access or reset
    site_id BIGINT NOT NULL, -- of an invitation; 0: of no site
    made_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, hash)
);
CREATE UNIQUE INDEX password_links_by_hash ON password_links (hash);
CREATE INDEX password_links_ended ON password_links (ends_at);
-- Names for which a new password was asked, with and without an account. A job answers them.
CREATE TABLE password_asks (
    name     TEXT   NOT NULL PRIMARY KEY, -- a user name or an e-mail address, in lower case
    address  TEXT   NOT NULL,             -- of the client
    asked_at BIGINT NOT NULL
);
CREATE INDEX password_asks_in_turn ON password_asks (asked_at);
CREATE INDEX users_by_email ON users (lower(email), id);
