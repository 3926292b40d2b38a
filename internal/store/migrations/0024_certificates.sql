-- The keys of the pages on which travellers see whether a booking is protected. Only a booking's last key can be valid.
CREATE TABLE certificates (
    site_id    BIGINT NOT NULL,
    booking_id BIGINT NOT NULL,
    number     BIGINT NOT NULL,        -- of the key, among those of the booking, from 1
    key_hash   TEXT   NOT NULL UNIQUE, -- by which the page is found
    sealed_key TEXT   NOT NULL,        -- sealed, so that the link can be shown again; '' once the key is revoked
    created_at BIGINT NOT NULL,
    revoked_at BIGINT,
    PRIMARY KEY (site_id, booking_id, number),
    FOREIGN KEY (site_id, booking_id) REFERENCES bookings (site_id, id)
);
