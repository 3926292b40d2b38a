-- Where people are signed in to the dashboard: one row for each browser.
CREATE TABLE sign_ins (
    user_id    BIGINT NOT NULL REFERENCES users (id),
    id         TEXT   NOT NULL, -- SHA-256 of the random text that its cookie has
    generation BIGINT NOT NULL, -- of the user's refresh tokens when it began: it ends with them
    began_at   BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL, -- the last request, to the minute
    proven_at  BIGINT NOT NULL, -- when the password was given last
    address    TEXT   NOT NULL,
    browser    TEXT   NOT NULL, -- the User-Agent, cut
    PRIMARY KEY (user_id, id)
);
