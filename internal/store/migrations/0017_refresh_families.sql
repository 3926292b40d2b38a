-- The rotating refresh tokens that came from one login (decision 0007). Only logins that ask for rotation have a row. When
-- it goes, all tokens of the family are dead.
CREATE TABLE refresh_families (
    user_id    BIGINT NOT NULL REFERENCES users (id),
    id         TEXT   NOT NULL, -- SHA-256 of a random text that its refresh tokens alone have
    number     BIGINT NOT NULL, -- of the present refresh token; each older one was used
    rotated_at BIGINT NOT NULL, -- when the present one was issued
    PRIMARY KEY (user_id, id)
);
