package disputes

import (
	"strings"

	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/payment"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// tookMoney is the condition that a transaction t is a payment that adds value (R1).
const tookMoney = `t.type IN ('purchase', 'capture') AND t.status IN ('complete', 'locked')`

// byKey finds payments by a column that names one. A processor may name an authorisation by it: then its captures are meant.
func (w *write) byKey(c *Case, channel int64, column, value string) ([]found, error) {
	if value == "" {
		return nil, nil
	}
	var q sqltext.Where
	q.And("t.site_id = ?", w.site.ID)
	q.And("t."+column+" = ? AND t."+column+" <> ''", value)
	if channel != 0 {
		q.And("t.channel_id = ?", channel)
	}
	var list []found
	var authorised []int64
	err := w.tx.Query(`SELECT t.id, t.channel_id, t.base_currency, t.card_type, t.bin_number, t.type FROM transactions t WHERE `+q.Text.String()+`
			AND (`+tookMoney+` OR t.type = 'authorize' AND t.status IN ('complete', 'expired')) ORDER BY t.id LIMIT 10`, q.Args,
		func(scan func(dest ...any) error) error {
			var f found
			var kind payment.TransactionType
			var cardType, bin string
			err := scan(&f.ID, &f.ChannelID, &f.BaseCurrency, &cardType, &bin, &kind)
			f.Scheme = string(card.SchemeOf(cardType, bin))
			if kind == payment.Authorize {
				authorised = append(authorised, f.ID)
			} else {
				list = append(list, f)
			}
			return err
		})
	if err != nil || len(list) > 0 || len(authorised) != 1 {
		return list, err
	}
	return w.takenBy(c, authorised[0])
}

// mostScored is how many payments with the last four digits of a card are scored for one case.
const mostScored = 500

// candidates finds the payments that share the last four digits with a report, and the auth code, the amount or the day (R14).
func candidates(tx *store.Tx, siteID, channel int64, r dispute.Report) (list []dispute.Candidate, err error) {
	if r.Clues.LastFour == "" {
		return nil, nil
	}
	var w sqltext.Where
	w.And("t.site_id = ?", siteID)
	w.And("t.last_four = ? AND t.last_four <> ''", r.Clues.LastFour)
	if channel != 0 {
		w.And("t.channel_id = ?", channel)
	}
	first, last := int64(1), int64(0) // no instant
	if r.Clues.PaidOn != civil.NoDay {
		first, last = store.Micros(r.Clues.PaidOn.Start()), store.Micros(r.Clues.PaidOn.End())
	}
	w.And(`(t.auth_code <> '' AND lower(t.auth_code) = ? OR t.total = ? OR t.base_total = ? OR t.total = ? OR t.base_total = ?
		OR t.effective_at BETWEEN ? AND ?)`, strings.ToLower(r.Clues.AuthCode), r.Amount, r.Amount, r.Clues.PaidAmount, r.Clues.PaidAmount, first, last)
	err = tx.Query(`SELECT t.id, t.channel_id, t.currencies, t.total, t.base_currency, t.base_total, t.auth_code, t.last_four, t.bin_number,
			t.card_type, t.effective_at / 86400000000
		FROM transactions t WHERE `+w.Text.String()+` AND `+tookMoney+` ORDER BY t.id DESC LIMIT `+w.Arg(mostScored), w.Args,
		func(scan func(dest ...any) error) error {
			var c dispute.Candidate
			var cardType string
			err := scan(&c.TransactionID, &c.ChannelID, &c.Currency, &c.Total, &c.BaseCurrency, &c.BaseTotal, &c.AuthCode, &c.LastFour, &c.BIN,
				&cardType, &c.PaidOn)
			c.Scheme = string(card.SchemeOf(cardType, c.BIN))
			list = append(list, c)
			return err
		})
	return list, err
}

// handMade finds the cases of a payment that people recorded as chargebacks and no processor has reported yet.
func handMade(tx *store.Tx, siteID, transactionID int64) ([]Case, error) {
	list, err := casesOfPayments(tx, siteID, []int64{transactionID})
	var manual []Case
	for _, c := range list {
		if c.Source == Manual && len(c.Postings) > 0 && c.Events[0].Origin == originTransaction {
			manual = append(manual, c)
		}
	}
	return manual, err
}

// freeReversals lists the reversals of a payment from a day on that no case has, earliest first.
func freeReversals(tx *store.Tx, siteID, transactionID int64, from civil.Day) (list []payment.Transaction, err error) {
	err = tx.Query(`SELECT t.id, t.total FROM transactions t WHERE t.site_id = $1 AND t.linked_id = $2 AND t.type = $3 AND t.effective_at >= $4
			AND NOT EXISTS (SELECT 1 FROM dispute_postings p WHERE p.site_id = $1 AND p.movement_id = t.id)
		ORDER BY t.effective_at, t.id`, []any{siteID, transactionID, payment.ChargebackReversal, store.Micros(from.Start())},
		func(scan func(dest ...any) error) error {
			var t payment.Transaction
			err := scan(&t.ID, &t.Total)
			list = append(list, t)
			return err
		})
	return list, err
}

// anyManual reports whether the site has cases that people recorded.
func (w *write) anyManual() (bool, error) {
	if w.manual == nil {
		has, err := store.Exists(w.tx, `SELECT 1 FROM disputes WHERE site_id = $1 AND source = $2`, w.site.ID, Manual)
		if err != nil {
			return false, err
		}
		w.manual = &has
	}
	return *w.manual, nil
}
