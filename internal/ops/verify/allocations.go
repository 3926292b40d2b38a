package verify

import (
	"database/sql"
	"errors"
	"time"

	"holdfast/internal/book/fixings"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// allocated is an allocation with everything that its checks need.
type allocated struct {
	protection.History
	booking *booked
	lines   []protection.PremiumLine
	line    limitLine
	end     storedEnd
}

var ofAllocations = []check[*allocated]{
	{"protection decided", decided},
	{"terms", checkTerms},
	{"refunds within bounds", refundsWithin},
	{"locked rates", lockedRates},
	{"premium lines", premiumLines},
	{"limit lines", limitLines},
	{"ends of protection", allocationEnds},
}

// decided: the reason is that of the decision, and cover begins when the payment was recorded, or of a taken-over book
// when it was made (R2).
func decided(l *look, at place, a *allocated) error {
	reason := a.Decision.Reason
	protected := reason == protection.ReasonProtected || reason == protection.ReasonLive || reason == protection.ReasonTestChannel
	same(l, at, "protected", a.Decision.Protected, protected)
	if from := a.Decision.CoverFrom; !from.Equal(a.RecordedAt) && !from.Equal(a.EffectiveAt) {
		l.wrong(at, "cover_from", from, a.RecordedAt)
	}
	return nil
}

// terms: the last terms follow from the booking, and the last day of dispute from each (R5).
func checkTerms(l *look, at place, a *allocated) error {
	last, ok := lastTerms(a.History)
	if !ok {
		l.wrong(place{at.check, "allocation_terms", a.ID}, "allocation_id", nothing, a.ID)
		return nil
	}
	at.table = "allocation_terms of allocation"
	should := a.TermsOf(a.booking.Booking, l.packs)
	same(l, at, "start_day", last.Start, should.Start)
	same(l, at, "end_day", last.End, should.End)
	same(l, at, "country", last.Country, should.Country)
	same(l, at, "suppliers", last.Suppliers, should.Suppliers)
	for _, t := range a.Terms {
		then := a.booking.Booking
		then.End = t.End
		same(l, at, "last_day", t.LastDay, a.TermsOf(then, l.packs).LastDay)
	}
	if first := a.Terms[0].RecordedAt; !first.Equal(a.RecordedAt) {
		l.wrong(at, "recorded_at", first, a.RecordedAt)
	}
	return nil
}

// refundsWithin: nothing is refunded that was not paid (R3).
func refundsWithin(l *look, at place, a *allocated) error {
	if sum := a.Sum(a.Events); sum.Refunded < 0 || sum.Refunded > a.Amount {
		l.wrong(at, "refunds", sum.Refunded, words("between 0 and", show(a.Amount)))
	}
	return nil
}

// rateMemory remembers the fixings of some days.
type rateMemory map[rateKey]*fx.Table

type rateKey struct {
	from, to money.Currency
	paid     civil.Day
	age      int64
}

// mostRates bounds the memory for fixings.
const mostRates = 4096

func (l *look) fixings(a *allocated) (*fx.Table, error) {
	k := rateKey{a.Currency, a.PolicyCurrency, a.Paid(), a.MaxFixingAge}
	if table := l.rates[k]; table != nil {
		return table, nil
	}
	if l.rates == nil || len(l.rates) >= mostRates {
		l.rates = rateMemory{}
	}
	list, err := fixings.Within(l.tx, fixings.ProvidersOf(l.site), []money.Currency{k.from, k.to}, k.paid-civil.Day(k.age), k.paid-1, l.tx.Now)
	for i := range list {
		if err == nil && !list[i].ExpiresAt.IsZero() { // quotes expire by the site's clock; records are dated by the real one
			list[i].ExpiresAt, err = sites.RealTime(l.tx, list[i].ExpiresAt)
		}
	}
	table := fx.NewTable(list)
	l.rates[k] = table
	return table, err
}

// lockedRates: the price follows from the fixings on file when it was locked (R9). Fixings recorded within five seconds
// of that may or may not have been visible.
func lockedRates(l *look, at place, a *allocated) error {
	if a.PricedAt.IsZero() {
		return nil
	}
	value, err := a.Quote.Convert(a.Amount)
	if err != nil || value != a.Value {
		l.wrong(at, "value", a.Value, value)
	}
	if a.Currency == a.PolicyCurrency {
		return nil
	}
	table, err := l.fixings(a)
	if err != nil {
		return err
	}
	known, err := sites.RealTime(l.tx, a.PricedAt)
	if err != nil {
		return err
	}
	should := nothing
	for _, around := range []time.Duration{0, -5 * time.Second, 5 * time.Second} {
		quote, ok := fx.Lock(table, a.Currency, a.PolicyCurrency, a.Paid(), known.Add(around), int(a.MaxFixingAge))
		if ok && legText(quote) == legText(a.Quote) {
			return nil
		}
		if ok && around == 0 {
			should = legText(quote)
		}
	}
	l.wrong(at, "locked rate", legText(a.Quote), should)
	return nil
}

func legText(q fx.Quote) string {
	text := ""
	for _, leg := range []fx.Leg{q.FromLeg, q.ToLeg} {
		if leg.HasFixing() {
			text = words(text, string(leg.Currency), string(leg.Provider), leg.Day.String(), leg.Rate.String())
		}
	}
	return text
}

// policy reads a policy of the site once.
func (l *look) policy(id int64) (terms.Policy, error) {
	if p, ok := l.policies[id]; ok {
		return p, nil
	}
	p, err := merchants.Policy(l.tx, l.site.ID, id)
	if errors.Is(err, store.ErrNotFound) {
		err = nil // the references say so
	}
	l.policies[id] = p
	return p, err
}

// premiumLines: each line is the difference between two states that R10 computes, and the last state is the present one.
func premiumLines(l *look, at place, a *allocated) error {
	if !a.Decision.Protected || a.PricedAt.IsZero() {
		for _, line := range a.lines {
			l.wrong(place{at.check, "premium_lines", line.ID}, "id", line.ID, nothing)
		}
		return nil
	}
	at.table = "premium_lines of allocation"
	last, ok := lastTerms(a.History)
	if len(a.lines) == 0 || !ok {
		l.wrong(at, "id", nothing, "a first line")
		return nil
	}
	policy, err := l.policy(a.PolicyID)
	if err != nil {
		return err
	}
	corrected := 0 // lines that were corrected: their error is known
	for i, line := range a.lines {
		if line.Kind == protection.PremiumCorrection {
			corrected = i
		}
	}
	var before int64
	for i, line := range a.lines {
		of := place{at.check, "premium_lines", line.ID}
		if i >= corrected {
			l.premiumLine(of, a, policy, line)
		}
		same(l, of, "kind is original", line.Kind == protection.PremiumOriginal, i == 0)
		same(l, of, "amount less retained", line.Amount-line.Retained, line.State.Premium-before)
		if line.Retained < 0 || line.Retained > 0 && line.Amount != 0 {
			l.wrong(of, "retained", line.Retained, 0)
		}
		before = line.State.Premium
	}
	insolvent, waiting := l.insolventAt(a.ChannelID, l.tx.Now)
	should, err := a.StateUnder(insolvent, policy, last.End, a.Sum(a.Events).Refunded)
	if err != nil {
		l.wrong(at, "premium", before, err)
		return nil
	}
	if !waiting || !l.failedBefore(a) {
		same(l, at, "premium", before, should.Premium)
	}
	return nil
}

// premiumLine checks a single line.
func (l *look) premiumLine(of place, a *allocated, policy terms.Policy, line protection.PremiumLine) {
	same(l, of, "channel_id", line.ChannelID, a.ChannelID)
	same(l, of, "currency", line.Currency, a.PolicyCurrency)
	same(l, of, "policy_id", line.PolicyID, a.PolicyID)
	same(l, of, "simulated", line.Simulated, a.Decision.Simulated)
	s := line.State
	insolvent, _ := l.insolventAt(a.ChannelID, line.RecordedAt)
	if l.justConfirmed(a.ChannelID, line.RecordedAt) && s.Premium != 0 {
		insolvent = merchant.Insolvency{}
	}
	should, err := a.StateUnder(insolvent, policy, a.Paid()+civil.Day(s.Lead), a.Amount-s.Amount)
	if err != nil {
		l.wrong(of, "premium", s.Premium, err)
		return
	}
	same(l, of, "state_amount", s.Amount, should.Amount)
	same(l, of, "state_value", s.Value, should.Value)
	same(l, of, "rate_card", s.Line.ID, should.Line.ID)
	same(l, of, "ppm", s.Line.PPM, should.Line.PPM)
	same(l, of, "premium", s.Premium, should.Premium)
	same(l, of, "minimum_applied", s.Minimum, should.Minimum)
}

// limitLine is the stored amount that an allocation adds to the running use.
type limitLine struct {
	has      bool
	channel  int64
	currency money.Currency
	protection.LimitUse
}

// limitBook is the progress of the running use of a site, and the queued changes.
type limitBook struct {
	begun    bool
	day      civil.Day
	known    time.Time
	by       terms.Recognition
	walking  bool
	walkedTo int64
	waiting  map[waiting]bool
	tooMany  bool
}

// waiting is what a change is about that the job has not taken up: a transaction or an allocation.
type waiting struct {
	transaction, allocation int64
}

// mostWaiting bounds the memory for changes. Where more wait, the job does not run, and lines are not looked at.
const mostWaiting = 100_000

func (b *limitBook) read(l *look) error {
	var known int64
	var walked sql.NullInt64
	err := l.tx.QueryRow(`SELECT day, known_at, recognition, walked_to FROM limit_books WHERE site_id = $1`, []any{l.site.ID},
		&b.day, &known, &b.by, &walked)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	b.begun, b.known, b.walking, b.walkedTo, b.waiting = true, store.Instant(known), walked.Valid, walked.Int64, map[waiting]bool{}
	if err != nil {
		return err
	}
	err = l.tx.Query(`SELECT transaction_id, allocation_id FROM limit_changes WHERE site_id = $1 ORDER BY id LIMIT $2`,
		[]any{l.site.ID, mostWaiting}, func(scan func(dest ...any) error) error {
			var w waiting
			err := scan(&w.transaction, &w.allocation)
			b.waiting[w] = true
			return err
		})
	b.tooMany = len(b.waiting) >= mostWaiting
	return err
}

// settled reports whether the job has processed all changes of an allocation.
func (b *limitBook) settled(a *allocated) bool {
	if !b.begun || b.tooMany || b.walking && a.ID > b.walkedTo ||
		b.waiting[waiting{transaction: a.TransactionID}] || b.waiting[waiting{allocation: a.ID}] {
		return false
	}
	for _, e := range a.Events {
		if b.waiting[waiting{transaction: e.TransactionID}] {
			return false
		}
	}
	return true
}

// limitLines: a line of the running use is E1 of its allocation at the locked rate (R12). While the job turns to a new
// day, some lines are those of the new day.
func limitLines(l *look, at place, a *allocated) error {
	if !l.limits.settled(a) {
		return nil
	}
	at.table = "limit_lines"
	none := protection.LimitUse{Due: civil.NoDay}
	stored := none
	if a.line.has {
		stored = a.line.LimitUse
		same(l, at, "channel_id", a.line.channel, a.ChannelID)
		same(l, at, "currency", a.line.currency, a.PolicyCurrency)
	}
	should, err := a.UseAt(l.limits.day, l.limits.known, l.limits.by)
	if err != nil {
		return err
	}
	today := civil.DayOf(l.tx.Now)
	for day := l.limits.day + 1; stored != should && day <= today && day <= l.limits.day+7; day++ {
		turned, err := a.UseAt(day, l.limits.known, l.limits.by)
		if err != nil {
			return err
		}
		if stored == turned {
			return nil
		}
	}
	same(l, at, "amount", stored.Amount, should.Amount)
	same(l, at, "due_day", dayText(stored.Due), dayText(should.Due))
	return nil
}
