package book

// statements insert the bookings of numberedBook and their payments.
var statements = []string{
	`INSERT INTO bookings (site_id, id, uuid, channel_id, author_id, author, author_name, content, firstname, surname, email,
		start_day, end_day, pax, reference, total, currencies, country, language, modal_draft, net, held, open_authorised,
		locked_payments, payments, suppliers, status, deleted, version, created_at, modified_at)
	SELECT site, i, unique_part || '-0000-4000-8000-' || (100000000000 + i), channel, 0, 'load', 'load', 'Seven nights, half board',
		'Ada', 'Lovelace' || i % 5000, 'traveller' || i || '@example.org', end_day - 7, end_day, 2, 'B-' || i, parts * amount,
		currency, country, 'enGB', FALSE, parts * amount, parts * amount, 0, 0, 1, '' || supplier, 'paid', FALSE, 1, paid, paid
	FROM book`,
	`INSERT INTO booking_suppliers (site_id, booking_id, supplier_id) SELECT site, i, supplier FROM book`,
	`INSERT INTO transactions (site_id, id, uuid, channel_id, author_id, author, author_name, type, status, currencies, total,
		remaining, base_currency, base_total, forex_rate, flags, psp, method, payee_name, payee_surname, payee_email, country,
		reference, token, ip_address, bin_number, last_four, card_type, auth_code, attempt_3ds, redirect_url, content,
		content_hash, simulated, effective_at, version, created_at, modified_at, protected, protection_reason)
	SELECT site, i, unique_part || '-0000-4000-9000-' || (100000000000 + i), channel, 0, 'load', 'load', 'purchase', 'complete',
		currency, parts * amount, parts * amount, currency, parts * amount, '', '', '', 'credit-card', 'Ada',
		'Lovelace' || i % 5000, 'traveller' || i || '@example.org', country, 'P-' || i, '', '', '', '', scheme, '', FALSE, '', '',
		'load', FALSE, paid, 1, paid, paid, i % 20 <> 0, CASE WHEN i % 20 <> 0 THEN 'channel_protected' ELSE 'channel_locked' END
	FROM book`,
	`INSERT INTO payments (site_id, id, transaction_id, channel_id, booking_id, currencies, total, remaining, created_at)
	SELECT site, parts * i + part, i, channel, i, currency, amount, amount, paid FROM book CROSS JOIN parted`,
	`INSERT INTO allocations (site_id, id, channel_id, booking_id, transaction_id, currency, amount, scheme, effective_at,
		recorded_at, protected, reason, simulated, late_logged, cover_from, rulepack, policy_currency, max_fixing_age,
		priced_at, value, from_provider, from_day, from_rate, to_provider, to_day, to_rate, policy_id, ends_after,
		ended, closed)
	SELECT site, parts * i + part, channel, i, i, currency, amount, scheme, paid, paid,
		i % 20 <> 0, CASE WHEN i % 20 <> 0 THEN 'channel_protected' ELSE 'channel_locked' END, FALSE, FALSE, paid, '', 'GBP',
		days + 10, paid, value,
		CASE currency WHEN 'USD' THEN 'ecb' ELSE '' END, CASE currency WHEN 'USD' THEN from_day - 1 END,
		CASE currency WHEN 'EUR' THEN '1' WHEN 'USD' THEN '1.0852' ELSE '' END,
		CASE currency WHEN 'GBP' THEN '' ELSE 'ecb' END, CASE currency WHEN 'GBP' THEN NULL ELSE from_day - 1 END,
		CASE currency WHEN 'GBP' THEN '' ELSE '0.85365' END, policy, end_day + 120,
		end_day + 120 < from_day + days, end_day + 120 < from_day + days FROM book CROSS JOIN parted`,
	`INSERT INTO allocation_terms (site_id, allocation_id, effective_at, recorded_at, start_day, end_day, last_day, country,
		suppliers)
	SELECT site, parts * i + part, paid, paid, end_day - 7, end_day, end_day + 120, country, '' || supplier
	FROM book CROSS JOIN parted`,
	`INSERT INTO premium_lines (site_id, allocation_id, channel_id, booking_id, transaction_id, kind, cause, recorded_at,
		effective_at, currency, amount, retained, state_amount, state_value, lead_days, ppm, premium, minimum_applied, policy_id,
		rate_card, simulated)
	SELECT site, parts * i + part, channel, i, i, 'original', 'purchase', paid, paid, 'GBP', (value * r.ppm + 500000) / 1000000,
		0, amount, value, end_day - paid_day, r.ppm, (value * r.ppm + 500000) / 1000000, FALSE, policy, r.id, FALSE
	FROM book CROSS JOIN parted JOIN rate_card_lines r ON r.site_id = site AND r.policy_id = policy
		AND end_day - paid_day BETWEEN r.lead_from AND COALESCE(r.lead_to, 9999)
	WHERE i % 20 <> 0`,
	// One delta per booking, because all its payments are on one day.
	`INSERT INTO exposure_deltas (site_id, day, channel_id, currency, scheme, country, suppliers, standing, valued_in,
		start_day, end_day, last_day, counted, amount, locked, noted_at, known_at)
	SELECT site, paid_day, channel, currency, scheme, country, '' || supplier,
		CASE WHEN i % 20 <> 0 THEN 'covered' ELSE 'uncovered' END, 'GBP', end_day - 7, end_day, end_day + 120, parts,
		parts * amount, parts * value, 0, paid FROM book`,
	// The limits job continues from here. Risks that have ended count towards no limit.
	`INSERT INTO limit_changes (site_id, kind, transaction_id, allocation_id, recorded_at)
	SELECT site, 'payment', i, 0, (from_day + days) * 86400000000 FROM book WHERE end_day + 120 >= from_day + days`,
}

// numberedBook derives the bookings of a book from their numbers. Parameters: $1 the site, $2 and $3 the first and last
// number, $4 the first channel, $5 the number of channels, $6 of suppliers, $7 the first day, $8 the number of days, $9
// of bookings in total, $10 the policy, $11 the payments per booking. The factors are coprime to the counts, so that each
// channel gets all schemes, countries and days. Values are rounded half up, with the rates of the day before the first.
const numberedBook = `WITH RECURSIVE given (site, first_number, last_number, first_channel, channels, suppliers, from_day, days, bookings, policy, parts)
	AS (SELECT CAST($1 AS BIGINT), CAST($2 AS BIGINT), CAST($3 AS BIGINT), CAST($4 AS BIGINT), CAST($5 AS BIGINT), CAST($6 AS BIGINT),
		CAST($7 AS BIGINT), CAST($8 AS BIGINT), CAST($9 AS BIGINT), CAST($10 AS BIGINT), CAST($11 AS BIGINT)),
	numbers (i) AS (
		SELECT first_number FROM given UNION ALL SELECT i + 1 FROM numbers WHERE i < (SELECT last_number FROM given)
	), parted (part) AS (
		SELECT CAST(0 AS BIGINT) UNION ALL SELECT part + 1 FROM parted WHERE part + 1 < (SELECT parts FROM given)
	), priced AS (
		SELECT given.*, i, first_channel + i % channels AS channel, 1 + i % suppliers AS supplier, 10000 + i * 7919 % 90000 AS amount,
			from_day + i * days / bookings AS paid_day, (from_day + i * days / bookings) * 86400000000 AS paid,
			from_day + i * days / bookings + 10 + i * 37 % 211 AS end_day,
			'' || (10000000 + i * 48271 % 89999999) AS unique_part,
			CASE i % channels % 3 WHEN 0 THEN 'EUR' WHEN 1 THEN 'GBP' ELSE 'USD' END AS currency,
			CASE i / 7 % 4 WHEN 0 THEN 'visa' WHEN 1 THEN 'mastercard' WHEN 2 THEN 'amex' ELSE 'unknown' END AS scheme,
			CASE i / 3 % 8 WHEN 0 THEN 'PT' WHEN 1 THEN 'FR' WHEN 2 THEN 'ES' WHEN 3 THEN 'IT' WHEN 4 THEN 'GR'
				WHEN 5 THEN 'AT' WHEN 6 THEN 'HR' ELSE 'NO' END AS country
		FROM numbers CROSS JOIN given
	), book AS (
		SELECT priced.*, CASE currency WHEN 'GBP' THEN amount WHEN 'EUR' THEN (amount * 170730 + 100000) / 200000
			ELSE (amount * 170730 + 108520) / 217040 END AS value FROM priced)
	`
