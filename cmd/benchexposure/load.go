package main

import (
	"holdfast/internal/civil"
	"holdfast/internal/db"
)

// Load describes a made-up book. Each booking has four payments of one day, as if four travellers each paid their part.
// Bookings are in the order of their days, and spread evenly over channels, schemes, countries, suppliers and travel
// days. Channel n after FirstChannel has the currency n mod 3 of EUR, GBP and USD. The policy's currency is GBP.
type Load struct {
	SiteID       int64
	FirstChannel int64 // id of the first channel; the ids of the others follow
	Channels     int64
	Suppliers    int64 // ids from 1 on
	From         civil.Day
	Days         int64 // the payments are spread over so many days
	Payments     int64
	PolicyID     int64
}

// PaymentsPerBooking is how many payments of a load share a booking.
const PaymentsPerBooking = 4

// loadStatements write the bookings with the numbers $2 to $3, and their payments. The other parameters: $1 the site,
// $4 the first channel, $5 the number of channels, $6 of suppliers, $7 the first day, $8 the number of days, $9 of all
// bookings, $10 the policy. The book is one that `holdfast verify` finds nothing in: values are rounded half up, with the
// rates of the day before the first.
var loadStatements = []string{
	`INSERT INTO bookings (site_id, id, uuid, channel_id, author_id, author, author_name, content, firstname, surname, email,
		start_day, end_day, pax, reference, total, currencies, country, language, modal_draft, net, held, open_authorised,
		locked_payments, payments, suppliers, status, deleted, version, created_at, modified_at)
	SELECT $1, i, 'b' || i, channel, 0, 'load', 'load', '', '', '', '', end_day - 7, end_day, 2, '', 4 * amount, currency,
		country, 'enGB', FALSE, 4 * amount, 4 * amount, 0, 0, 1, '' || supplier, 'paid', FALSE, 1, paid, paid FROM book`,
	`INSERT INTO booking_suppliers (site_id, booking_id, supplier_id) SELECT $1, i, supplier FROM book`,
	`INSERT INTO transactions (site_id, id, uuid, channel_id, author_id, author, author_name, type, status, currencies, total,
		remaining, base_currency, base_total, forex_rate, flags, psp, method, payee_name, payee_surname, payee_email, country,
		token, ip_address, bin_number, last_four, card_type, auth_code, attempt_3ds, redirect_url, content, content_hash,
		simulated, effective_at, version, created_at, modified_at)
	SELECT $1, i, 't' || i, channel, 0, 'load', 'load', 'purchase', 'complete', currency, 4 * amount, 4 * amount, currency,
		4 * amount, '', '', '', 'credit-card', '', '', '', '', '', '', '', '', scheme, '', FALSE, '', '', '', FALSE, paid, 1,
		paid, paid FROM book`,
	`INSERT INTO payments (site_id, id, transaction_id, channel_id, booking_id, currencies, total, remaining, created_at)
	SELECT $1, 4 * i + part, i, channel, i, currency, amount, amount, paid FROM book CROSS JOIN parts`,
	`INSERT INTO allocations (site_id, id, channel_id, booking_id, transaction_id, currency, amount, scheme, effective_at,
		recorded_at, protected, reason, simulated, late_logged, cover_from, rulepack, policy_currency, max_fixing_age,
		priced_at, value, from_provider, from_day, from_rate, to_provider, to_day, to_rate, policy_id)
	SELECT $1, 4 * i + part, channel, i, i, currency, amount, scheme, paid, paid,
		i % 20 <> 0, CASE WHEN i % 20 <> 0 THEN 'channel_protected' ELSE 'channel_locked' END, FALSE, FALSE, paid, '', 'GBP',
		$8 + 10, paid, value,
		CASE currency WHEN 'USD' THEN 'ecb' ELSE '' END, CASE currency WHEN 'USD' THEN $7 - 1 END,
		CASE currency WHEN 'EUR' THEN '1' WHEN 'USD' THEN '1.0852' ELSE '' END,
		CASE currency WHEN 'GBP' THEN '' ELSE 'ecb' END, CASE currency WHEN 'GBP' THEN NULL ELSE $7 - 1 END,
		CASE currency WHEN 'GBP' THEN '' ELSE '0.85365' END, $10 FROM book CROSS JOIN parts`,
	`INSERT INTO allocation_terms (site_id, allocation_id, effective_at, recorded_at, start_day, end_day, last_day, country,
		suppliers)
	SELECT $1, 4 * i + part, paid, paid, end_day - 7, end_day, end_day + 120,
		country, '' || supplier FROM book CROSS JOIN parts`,
	`INSERT INTO premium_lines (site_id, allocation_id, channel_id, booking_id, transaction_id, kind, cause, recorded_at,
		effective_at, currency, amount, retained, state_amount, state_value, lead_days, ppm, premium, minimum_applied, policy_id,
		rate_card, simulated)
	SELECT $1, 4 * i + part, channel, i, i, 'original', 'purchase', paid, paid, 'GBP', (value * r.ppm + 500000) / 1000000, 0,
		amount, value, end_day - paid_day, r.ppm, (value * r.ppm + 500000) / 1000000, FALSE, $10, r.id, FALSE
	FROM book CROSS JOIN parts JOIN rate_card_lines r ON r.site_id = $1 AND r.policy_id = $10
		AND end_day - paid_day BETWEEN r.lead_from AND COALESCE(r.lead_to, 9999)
	WHERE i % 20 <> 0`,
	// One delta for each booking, because its payments are all of one day.
	`INSERT INTO exposure_deltas (site_id, day, channel_id, currency, scheme, country, suppliers, standing, valued_in,
		start_day, end_day, last_day, counted, amount, locked, noted_at, known_at)
	SELECT $1, paid / 86400000000, channel, currency, scheme, country, '' || supplier,
		CASE WHEN i % 20 <> 0 THEN 'covered' ELSE 'uncovered' END, 'GBP', end_day - 7, end_day, end_day + 120, 4, 4 * amount,
		4 * value, 0, paid FROM book`,
}

// numberedBook makes the bookings of a load from their numbers. The factors are prime to the counts, so that a channel
// gets all schemes, countries and days.
const numberedBook = `WITH RECURSIVE numbers (i) AS (
		SELECT CAST($2 AS BIGINT) UNION ALL SELECT i + 1 FROM numbers WHERE i < CAST($3 AS BIGINT)
	), parts (part) AS (VALUES (0), (1), (2), (3)), priced AS (
		SELECT i, $4 + i % $5 AS channel, 1 + i % $6 AS supplier, 10000 + i * 7919 % 90000 AS amount,
			$7 + i * $8 / $9 AS paid_day, ($7 + i * $8 / $9) * 86400000000 AS paid, $7 + i * $8 / $9 + 10 + i * 37 % 211 AS end_day,
			CASE i % $5 % 3 WHEN 0 THEN 'EUR' WHEN 1 THEN 'GBP' ELSE 'USD' END AS currency,
			CASE i / 7 % 4 WHEN 0 THEN 'visa' WHEN 1 THEN 'mastercard' WHEN 2 THEN 'amex' ELSE 'unknown' END AS scheme,
			CASE i / 3 % 8 WHEN 0 THEN 'PT' WHEN 1 THEN 'FR' WHEN 2 THEN 'ES' WHEN 3 THEN 'IT' WHEN 4 THEN 'GR'
				WHEN 5 THEN 'AT' WHEN 6 THEN 'HR' ELSE 'NO' END AS country
		FROM numbers
	), book AS (
		SELECT priced.*, CASE currency WHEN 'GBP' THEN amount WHEN 'EUR' THEN (amount * 170730 + 100000) / 200000
			ELSE (amount * 170730 + 108520) / 217040 END AS value FROM priced)
	`

// loadBook writes the bookings of a load with the numbers from first to last. It breaks the rule that only the owner
// writes a table, because loading a million payments through the API would take too long.
func loadBook(tx *db.Tx, l Load, first, last int64) error {
	for _, statement := range loadStatements {
		_, err := tx.Exec(numberedBook+statement, l.SiteID, first, last, l.FirstChannel, l.Channels, l.Suppliers, l.From, l.Days,
			l.Payments/PaymentsPerBooking, l.PolicyID)
		if err != nil {
			return err
		}
	}
	return nil
}

// ratesBefore puts the rates of the book on file, as of the day before it begins. Rows that are loaded have no digests.
func ratesBefore(tx *db.Tx, l Load) error {
	for _, statement := range []string{
		`INSERT INTO fixings (site_id, provider, currency, day, rate, recorded_at, quote_id)
		VALUES (0, 'ecb', 'GBP', $1, '0.85365', $2, ''), (0, 'ecb', 'USD', $1, '1.0852', $2, '')`,
		`UPDATE fact_starts SET up_to = $1 + $2 + 1000000000000`,
	} {
		if _, err := tx.Exec(statement, l.From-1, db.Micros((l.From - 1).Start())); err != nil {
			return err
		}
	}
	return nil
}
