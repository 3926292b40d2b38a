-- Indexes for the filters of lists, so that none reads all rows of a large site. Most leave out the rows with the commonest
-- value, or with none. SQLite prefers the younger of two indexes that look alike: so the one that finds fewer rows comes later.
CREATE INDEX transactions_by_currency ON transactions (site_id, currencies, id) WHERE currencies <> '';
CREATE INDEX transactions_by_country ON transactions (site_id, country, id) WHERE country <> '';
CREATE INDEX transactions_by_card_type ON transactions (site_id, card_type, id) WHERE card_type <> '';
CREATE INDEX transactions_by_psp ON transactions (site_id, psp, id) WHERE psp <> '';
CREATE INDEX transactions_by_method ON transactions (site_id, method, id) WHERE method <> 'credit-card';
CREATE INDEX transactions_by_type ON transactions (site_id, type, id) WHERE type <> 'purchase';
CREATE INDEX transactions_by_status ON transactions (site_id, status, id) WHERE status <> 'complete';
CREATE INDEX transactions_by_bin ON transactions (site_id, bin_number, id) WHERE bin_number <> '';
CREATE INDEX transactions_by_last_four ON transactions (site_id, last_four, id) WHERE last_four <> '';
CREATE INDEX transactions_by_surname ON transactions (site_id, payee_surname, id) WHERE payee_surname <> '';
CREATE INDEX transactions_by_auth_code ON transactions (site_id, auth_code, id) WHERE auth_code <> '';
CREATE INDEX transactions_by_acquirer_reference ON transactions (site_id, acquirer_reference, id) WHERE acquirer_reference <> '';
CREATE INDEX transactions_by_modified ON transactions (site_id, modified_at, id);
CREATE INDEX bookings_by_modified ON bookings (site_id, modified_at, id);
