-- A use of the payment modal: what the auth string vouched for, and the booking that is paid.
CREATE TABLE modal_sessions (
    site_id    BIGINT  NOT NULL,
    id         {{serial}},
    channel_id BIGINT  NOT NULL,
    token_hash TEXT    NOT NULL UNIQUE, -- of the token by which the frame is known again
    auth_hash  TEXT    NOT NULL,        -- of the auth string, which may open several
    origin     TEXT    NOT NULL,        -- of the page
    verified   TEXT    NOT NULL,        -- JSON, opaque to SQL: the verified fields by name
    booking_id BIGINT,                  -- NULL as long as it is not known
    made       BOOLEAN NOT NULL,        -- whether the session made the booking
    created_at BIGINT  NOT NULL,        -- by the real clock, for what forgets old ones
    expires_at BIGINT  NOT NULL,        -- by the clock of the site
    {{key}} (site_id, id),
    FOREIGN KEY (site_id, channel_id) REFERENCES channels (site_id, id) ON DELETE CASCADE,
    FOREIGN KEY (site_id, booking_id) REFERENCES bookings (site_id, id)
);
CREATE INDEX modal_sessions_by_auth ON modal_sessions (site_id, auth_hash, booking_id);
CREATE INDEX modal_sessions_by_age ON modal_sessions (created_at);
CREATE INDEX modal_sessions_by_channel ON modal_sessions (site_id, channel_id);

-- A payment that was made in the payment modal. It outlives its session.
CREATE TABLE modal_payments (
    site_id        BIGINT NOT NULL,
    transaction_id BIGINT NOT NULL,
    booking_id     BIGINT NOT NULL,
    auth_hash      TEXT   NOT NULL, -- of the auth string: attempts are counted by booking and auth string
    allocations    TEXT   NOT NULL, -- JSON as it was verified, opaque to SQL; '' for none
    charge_channel BIGINT,          -- as it was verified; NULL for none
    PRIMARY KEY (site_id, transaction_id),
    FOREIGN KEY (site_id, transaction_id) REFERENCES transactions (site_id, id),
    FOREIGN KEY (site_id, booking_id) REFERENCES bookings (site_id, id)
);
CREATE INDEX modal_payments_by_booking ON modal_payments (site_id, booking_id, transaction_id);
