package payments

import (
	"slices"
	"strings"

	"holdfast/internal/domain/payment"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// andTransactions adds the conditions of a filter of transactions.
//
// Most filters have partial indexes that leave out rows with no value or the most common one. The engines use such an index only if the
// statement repeats its condition. SQLite plans with the same statistics for every book, so it cannot tell which index finds fewer rows.
// So indexes on columns with few distinct values are only offered if no other filter is selective.
func andTransactions(w *sqltext.Where, siteID int64, f TransactionFilter, few bool) {
	store.Within(w, "created_at", f.Created)
	if found, values, ok := sqltext.Find(siteID, "transactions", "id", []string{"reference", "payee_surname", "payee_email"}, f.Find); ok {
		w.And(found, values...)
	}
	few = few || f.Find != "" || len(f.Bookings) > 0 || f.LinkedID != 0
	for _, exact := range []struct{ column, text string }{
		{"reference", f.Reference}, {"payee_email", f.PayeeEmail}, {"payee_surname", f.PayeeSurname},
		{"bin_number", f.BIN}, {"last_four", f.LastFour}, {"auth_code", f.AuthCode},
		{"acquirer_reference", f.AcquirerReference}, {"processor_reference", f.ProcessorReference},
	} {
		if exact.text != "" {
			few = true
			w.And(exact.column+" = ? AND "+exact.column+" <> ''", exact.text)
		}
	}
	andOneOf(w, siteID, "status", f.Statuses, payment.StatusComplete, !few)
	andOneOf(w, siteID, "type", f.Types, payment.Purchase, !few)
	andOneOf(w, siteID, "method", f.Methods, payment.CreditCard, !few)
	few = few || len(f.Channels) > 0
	sqltext.In(w, "channel_id", f.Channels)
	andOneOf(w, siteID, "country", f.Countries, "", !few)
	andOneOf(w, siteID, "currencies", f.Currencies, "", !few)
	andOneOf(w, siteID, "card_type", f.CardTypes, "", !few)
	if f.PSP != "" {
		andOneOf(w, siteID, "psp", []string{f.PSP}, "", !few)
	}
	if f.LinkedID != 0 {
		w.And("linked_id = ?", f.LinkedID)
	}
	if len(f.Bookings) > 0 {
		w.And("id IN (SELECT p.transaction_id FROM payments p WHERE p.site_id = ? AND p.booking_id "+among(len(f.Bookings))+")",
			given(siteID, f.Bookings)...)
	}
	andFlags(w, siteID, f.Flags)
	if f.Protected != nil {
		w.And(map[bool]string{true: "protected", false: "NOT protected"}[*f.Protected])
	}
	if f.OverLimit != nil {
		not := map[bool]string{true: "", false: "NOT "}[*f.OverLimit]
		w.And("id "+not+inOverLimits, siteID)
	}
}

// inOverLimits ends a condition on an id: part of the transaction is above a limit.
const inOverLimits = "IN (SELECT o.transaction_id FROM over_limits o WHERE o.site_id = ?)"

// andFlags adds the condition that a transaction has one of the flags.
func andFlags(w *sqltext.Where, siteID int64, flags []string) {
	var oneOf []string
	var args []any
	for _, flag := range flags {
		if flag == payment.FlagOverLimit {
			oneOf, args = append(oneOf, "id "+inOverLimits), append(args, siteID)
			continue
		}
		oneOf, args = append(oneOf, "flags <> '' AND flags LIKE ?"), append(args, "%"+flag+"%") // no flag contains another
	}
	if len(oneOf) > 0 {
		w.And("("+strings.Join(oneOf, " OR ")+")", args...)
	}
}

// andOneOf adds "column IN (values)". indexed lets the engines use the partial index, which leaves out rows with the most common value.
// SQLite would not use it for several values, so each is looked up separately if the index has few rows.
func andOneOf[T ~string](w *sqltext.Where, siteID int64, column string, values []T, commonest T, indexed bool) {
	if !indexed || len(values) == 0 || slices.Contains(values, commonest) {
		sqltext.In(w, column, values)
		return
	}
	left := column + " <> '" + string(commonest) + "'"
	if len(values) == 1 || commonest == "" {
		sqltext.In(w, column, values)
		w.And(left)
		return
	}
	w.And("id IN (SELECT t.id FROM transactions t WHERE t.site_id = ? AND t."+left+" AND t."+column+" "+among(len(values))+")",
		given(siteID, values)...)
}

// among ends a condition: the column has one of n values.
func among(n int) string { return "IN (?" + strings.Repeat(", ?", n-1) + ")" }

// given lists the site and values as arguments.
func given[T any](siteID int64, values []T) []any {
	list := []any{siteID}
	for _, v := range values {
		list = append(list, v)
	}
	return list
}

// mostFlagged is the maximum number of flagged transactions counted per channel, latest first.
const mostFlagged = 10_000

// flagCounts counts the transactions of a channel by flag, among its latest flagged ones.
func flagCounts(tx *store.Tx, siteID, channelID int64) (map[string]int64, error) {
	counts := map[string]int64{}
	var over int64
	err := tx.QueryRow(`SELECT COUNT(DISTINCT t.id) FROM (SELECT transaction_id FROM over_limits WHERE site_id = $1
			ORDER BY transaction_id DESC LIMIT $3) o
		JOIN transactions t ON t.site_id = $1 AND t.id = o.transaction_id WHERE t.channel_id = $2`,
		[]any{siteID, channelID, mostFlagged}, &over)
	if err != nil {
		return nil, err
	}
	if over > 0 {
		counts[payment.FlagOverLimit] = over
	}
	err = tx.Query(`SELECT f.flags, COUNT(*) FROM (SELECT flags FROM transactions
			WHERE site_id = $1 AND channel_id = $2 AND flags <> '' ORDER BY id DESC LIMIT $3) f GROUP BY f.flags`,
		[]any{siteID, channelID, mostFlagged}, func(scan func(dest ...any) error) error {
			var flags string
			var n int64
			err := scan(&flags, &n)
			for _, flag := range flagsIn(flags) {
				counts[flag] += n
			}
			return err
		})
	return counts, err
}
