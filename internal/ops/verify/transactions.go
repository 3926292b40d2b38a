package verify

import (
	"database/sql"
	"time"

	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/store"
)

// part is a payment, with what its transaction is.
type part struct {
	payment.Payment
	Type   payment.TransactionType
	Status payment.TransactionStatus
	// Of the payment that this one adjusts; 0 where there is none.
	OriginalTransaction, OriginalBooking int64
}

const partColumns = `p.id, p.transaction_id, p.channel_id, p.booking_id, p.currencies, p.total, p.remaining, p.linked_id,
	t.type, t.status, o.transaction_id, o.booking_id`

const partSource = `payments p JOIN transactions t ON t.site_id = p.site_id AND t.id = p.transaction_id
	LEFT JOIN payments o ON o.site_id = p.site_id AND o.id = p.linked_id`

func scanPart(scan func(dest ...any) error) (p part, err error) {
	var linked, transaction, booking sql.NullInt64
	err = scan(&p.ID, &p.TransactionID, &p.ChannelID, &p.BookingID, &p.Currency, &p.Total, &p.Remaining, &linked,
		&p.Type, &p.Status, &transaction, &booking)
	p.LinkedID, p.OriginalTransaction, p.OriginalBooking = linked.Int64, transaction.Int64, booking.Int64
	return p, err
}

// paid is a transaction with everything that its checks need.
type paid struct {
	payment.Transaction
	parts       []part
	adjustments []adjustment
	taken       map[int64]int64 // by payment: what its adjustments have taken of it, open ones too
	chargedBack map[int64]int64 // by payment: chargebacks less reversals
	allocations []allocation
	events      []event
	charge      *payment.GatewayCharge
	original    *origin // the transaction it adjusts
}

// adjustment is a transaction that adjusts another one.
type adjustment struct {
	kind   payment.TransactionType
	status payment.TransactionStatus
	total  int64
}

// origin is the transaction that another one adjusts.
type origin struct {
	channel  int64
	kind     payment.TransactionType
	currency money.Currency
}

// allocation is what a transaction and its allocation must have in common.
type allocation struct {
	id, channel, booking, amount int64
	currency                     money.Currency
	effective                    time.Time
	simulated                    bool
}

// event is a row of allocation_events.
type event struct {
	id, allocation, amount int64
	kind                   payment.TransactionType
}

var ofTransactions = []check[*paid]{
	{"transaction parts", transactionParts},
	{"transaction links", transactionLinks},
	{"remaining amounts", remainingAmounts},
	{"transaction status", transactionStatus},
	{"allocations", allocationsOf},
	{"allocation events", eventsOf},
}

func walkTransactions(l *look) error {
	begun(l, ofTransactions)
	return l.pages("transactions", func(first, last int64) error {
		page, err := l.readTransactions(first, last)
		if err != nil {
			return err
		}
		for _, t := range page {
			if err := each(l, ofTransactions, "transactions", t.ID, t); err != nil {
				return err
			}
		}
		return nil
	})
}

// transactionParts: the payments of a transaction add up to it, and share its channel and currency.
func transactionParts(l *look, at place, t *paid) error {
	var sum int64
	for _, p := range t.parts {
		sum += p.Total
		of := place{at.check, "payments", p.ID}
		same(l, of, "channel_id", p.ChannelID, t.ChannelID)
		same(l, of, "currencies", p.Currency, t.BaseCurrency)
	}
	same(l, at, "base_total", t.BaseTotal, sum)
	rate := ""
	if t.Currency == t.BaseCurrency {
		same(l, at, "total", t.Total, t.BaseTotal)
	} else {
		rate = money.RateString(t.Total, t.Currency, t.BaseTotal, t.BaseCurrency)
	}
	same(l, at, "forex_rate", t.ForexRate, rate)
	return nil
}

// transactionLinks: an adjustment adjusts a transaction of its channel and currency that it can adjust, each of its
// payments one of the same booking.
func transactionLinks(l *look, at place, t *paid) error {
	if !t.Type.Linked() {
		same(l, at, "linked_id", t.LinkedID, 0)
		return nil
	}
	if t.original == nil {
		l.wrong(at, "linked_id", t.LinkedID, "a transaction of the site")
		return nil
	}
	same(l, at, "channel_id", t.ChannelID, t.original.channel)
	same(l, at, "currencies", t.Currency, t.original.currency)
	authorised := t.Type == payment.Capture || t.Type == payment.Void
	if authorised && t.original.kind != payment.Authorize || !authorised && !t.original.kind.Takes() {
		l.wrong(at, "type", t.Type, "one that can adjust a transaction of type "+t.original.kind)
	}
	for _, p := range t.parts {
		of := place{at.check, "payments", p.ID}
		same(l, of, "linked_id", p.OriginalTransaction, t.LinkedID)
		same(l, of, "booking_id", p.BookingID, p.OriginalBooking)
	}
	return nil
}

// remainingAmounts: of a payment there remains what its adjustments have not taken. If the payment is in another currency
// than its bookings, the adjustment that empties its parts takes the rest, however it was converted. The same holds for
// what chargebacks have taken.
func remainingAmounts(l *look, at place, t *paid) error {
	total, happened := int64(0), counts(t.Status) || t.Status == payment.StatusExpired
	originals := t.Type.Takes() || t.Type == payment.Authorize
	abandoned := t.Status == payment.StatusExpired && t.charge != nil && t.Remaining == 0
	if originals && happened && !abandoned {
		total = t.Total
		for _, a := range t.adjustments {
			if !a.kind.Operators() && (counts(a.status) || open(a.status)) {
				total -= a.total
			}
		}
	}
	total = max(0, total)
	emptied, charged := true, false
	for _, p := range t.parts {
		should := int64(0)
		if originals && happened && !abandoned {
			should = max(0, p.Total-t.taken[p.ID])
		}
		emptied = emptied && should-max(0, t.chargedBack[p.ID]) <= 0
		charged = charged || t.chargedBack[p.ID] != 0
		if !(charged && 0 <= p.Remaining && p.Remaining <= should) {
			same(l, place{at.check, "payments", p.ID}, "remaining", p.Remaining, should)
		}
	}
	rest := t.Currency != t.BaseCurrency || charged
	if !(rest && emptied && 0 <= t.Remaining && t.Remaining <= total) {
		same(l, at, "remaining", t.Remaining, total)
	}
	return nil
}

// transactionStatus: the status follows from the processor's outcome and from unreversed chargebacks.
func transactionStatus(l *look, at place, t *paid) error {
	locked := false
	for _, p := range t.parts {
		locked = locked || t.chargedBack[p.ID] > 0
	}
	if t.Type.Takes() && counts(t.Status) {
		should := payment.StatusComplete
		if locked {
			should = payment.StatusLocked
		}
		same(l, at, "status", t.Status, should)
		return nil
	}
	expired := t.Status == payment.StatusExpired && (t.Type == payment.Authorize || t.charge != nil)
	switch {
	case locked:
		l.wrong(at, "status", t.Status, payment.StatusLocked)
	case t.charge != nil && t.charge.State.Open() && !open(t.Status):
		l.wrong(at, "status", t.Status, "pending or incomplete: the processor has not reported the outcome")
	case t.charge != nil && t.charge.State == payment.ChargeAbsent:
		same(l, at, "status", t.Status, payment.StatusFailed)
	case (t.charge == nil || !t.charge.State.Open()) && t.Status != payment.StatusComplete && !expired &&
		(t.charge == nil || t.Status != payment.StatusFailed):
		l.wrong(at, "status", t.Status, payment.StatusComplete)
	}
	return nil
}

// allocationsOf: each part of a purchase or capture that took money has its allocation, and nothing else has one (R3).
func allocationsOf(l *look, at place, t *paid) error {
	byID := map[int64]allocation{}
	for _, a := range t.allocations {
		byID[a.id] = a
	}
	for _, p := range t.parts {
		of := place{at.check, "allocations", p.ID}
		a, has := byID[p.ID]
		delete(byID, p.ID)
		switch {
		case has && !took(t.Type, t.Status):
			l.wrong(of, "id", p.ID, nothing)
		case !has && took(t.Type, t.Status):
			l.wrong(of, "id", nothing, p.ID)
		case has:
			same(l, of, "channel_id", a.channel, t.ChannelID)
			same(l, of, "booking_id", a.booking, p.BookingID)
			same(l, of, "currency", a.currency, p.Currency)
			same(l, of, "amount", a.amount, p.Total)
			same(l, of, "simulated", a.simulated, t.Simulated)
			same(l, of, "effective_at", a.effective, t.EffectiveAt)
		}
	}
	for id := range byID {
		l.wrong(place{at.check, "allocations", id}, "transaction_id", t.ID, "the transaction of its payment")
	}
	return nil
}

// eventsOf: each part of a refund, chargeback or reversal that has happened changes its allocation by its amount, and
// nothing else does (R3). A refund that came back has changed it to and fro.
func eventsOf(l *look, at place, t *paid) error {
	should := map[int64]int64{}
	adjusts := t.Type == payment.Refund || t.Type.Operators()
	for _, p := range t.parts {
		if adjusts && counts(t.Status) {
			should[p.LinkedID] = p.Total
		}
	}
	sums := map[int64]int64{}
	for _, e := range t.events {
		sums[e.allocation] += e.amount
		same(l, place{at.check, "allocation_events", e.id}, "kind", e.kind, t.Type)
	}
	for id := range should { // also those without an event
		sums[id] += 0
	}
	for id, sum := range sums {
		same(l, place{at.check, "allocations", id}, "events of transaction "+show(t.ID), sum, should[id])
	}
	return nil
}

// readTransactions reads the transactions with ids from first to last, in order.
func (l *look) readTransactions(first, last int64) ([]*paid, error) {
	var list []*paid
	byID, args := map[int64]*paid{}, []any{l.site.ID, first, last}
	err := l.tx.Query(`SELECT t.id, t.channel_id, t.type, t.status, t.currencies, t.total, t.remaining, t.base_currency,
			t.base_total, t.forex_rate, t.linked_id, t.simulated, t.effective_at, o.channel_id, o.type, o.currencies
		FROM transactions t LEFT JOIN transactions o ON o.site_id = t.site_id AND o.id = t.linked_id
		WHERE t.site_id = $1 AND t.id BETWEEN $2 AND $3 ORDER BY t.id`, args, func(scan func(dest ...any) error) error {
		t := &paid{taken: map[int64]int64{}, chargedBack: map[int64]int64{}}
		var linked, channel sql.NullInt64
		var kind, currency sql.NullString
		var effective int64
		err := scan(&t.ID, &t.ChannelID, &t.Type, &t.Status, &t.Currency, &t.Total, &t.Remaining, &t.BaseCurrency,
			&t.BaseTotal, &t.ForexRate, &linked, &t.Simulated, &effective, &channel, &kind, &currency)
		t.LinkedID, t.EffectiveAt = linked.Int64, store.Instant(effective)
		if channel.Valid {
			t.original = &origin{channel.Int64, payment.TransactionType(kind.String), money.Currency(currency.String)}
		}
		list, byID[t.ID] = append(list, t), t
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := l.readParts(byID, args); err != nil {
		return nil, err
	}
	if err := l.readAdjustments(byID, args); err != nil {
		return nil, err
	}
	return list, l.readFollowing(byID, args)
}

// readParts reads the payments of transactions, and what adjustments have taken of them.
func (l *look) readParts(byID map[int64]*paid, args []any) error {
	err := l.tx.Query(`SELECT `+partColumns+` FROM `+partSource+`
		WHERE p.site_id = $1 AND p.transaction_id BETWEEN $2 AND $3 ORDER BY p.id`, args,
		func(scan func(dest ...any) error) error {
			p, err := scanPart(scan)
			if t := byID[p.TransactionID]; t != nil {
				t.parts = append(t.parts, p)
			}
			return err
		})
	if err != nil {
		return err
	}
	return l.tx.Query(`SELECT p.linked_id, o.transaction_id, t.type, t.status, p.total FROM payments o
			JOIN payments p ON p.site_id = o.site_id AND p.linked_id = o.id
			JOIN transactions t ON t.site_id = p.site_id AND t.id = p.transaction_id
		WHERE o.site_id = $1 AND o.transaction_id BETWEEN $2 AND $3`, args, func(scan func(dest ...any) error) error {
		var id, transaction, total int64
		var kind payment.TransactionType
		var status payment.TransactionStatus
		err := scan(&id, &transaction, &kind, &status, &total)
		t := byID[transaction]
		if t == nil {
			return err
		}
		switch {
		case kind.TakesBack() && counts(status):
			t.chargedBack[id] += total
		case kind == payment.ChargebackReversal && counts(status):
			t.chargedBack[id] -= total
		case !kind.Operators() && (counts(status) || open(status)):
			t.taken[id] += total
		}
		return err
	})
}

// readAdjustments reads adjustments of other transactions, and requests to processors.
func (l *look) readAdjustments(byID map[int64]*paid, args []any) error {
	err := l.tx.Query(`SELECT linked_id, type, status, total FROM transactions
		WHERE site_id = $1 AND linked_id BETWEEN $2 AND $3`, args, func(scan func(dest ...any) error) error {
		var id int64
		var a adjustment
		err := scan(&id, &a.kind, &a.status, &a.total)
		if t := byID[id]; t != nil {
			t.adjustments = append(t.adjustments, a)
		}
		return err
	})
	if err != nil {
		return err
	}
	return l.tx.Query(`SELECT transaction_id, state FROM gateway_charges WHERE site_id = $1 AND transaction_id BETWEEN $2 AND $3`,
		args, func(scan func(dest ...any) error) error {
			var c payment.GatewayCharge
			err := scan(&c.TransactionID, &c.State)
			if t := byID[c.TransactionID]; t != nil {
				t.charge = &c
			}
			return err
		})
}

// readFollowing reads the allocations and events that follow from transactions.
func (l *look) readFollowing(byID map[int64]*paid, args []any) error {
	err := l.tx.Query(`SELECT transaction_id, id, channel_id, booking_id, currency, amount, effective_at, simulated
		FROM allocations WHERE site_id = $1 AND transaction_id BETWEEN $2 AND $3`, args,
		func(scan func(dest ...any) error) error {
			var id, effective int64
			var a allocation
			err := scan(&id, &a.id, &a.channel, &a.booking, &a.currency, &a.amount, &effective, &a.simulated)
			a.effective = store.Instant(effective)
			if t := byID[id]; t != nil {
				t.allocations = append(t.allocations, a)
			}
			return err
		})
	if err != nil {
		return err
	}
	return l.tx.Query(`SELECT transaction_id, id, allocation_id, kind, amount FROM allocation_events
		WHERE site_id = $1 AND transaction_id BETWEEN $2 AND $3`, args, func(scan func(dest ...any) error) error {
		var id int64
		var e event
		err := scan(&id, &e.id, &e.allocation, &e.kind, &e.amount)
		if t := byID[id]; t != nil {
			t.events = append(t.events, e)
		}
		return err
	})
}
