-- What is outstanding of a booking and what remains of its payments, by days: E4 (R7) is computed from it. It stands with the
-- booking so that a payment reads none of the earlier ones. Empty: the booking has not changed since this column came,
-- and the next change reads its payments.
ALTER TABLE bookings ADD COLUMN outstanding TEXT NOT NULL DEFAULT '';
