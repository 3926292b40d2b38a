package payments

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// adjust checks a refund, capture, void, chargeback or reversal against the original, which is the transaction that it adjusts. It fills
// in the items if there is only one booking, and lowers the remaining amount of the original. It locks the original first, so that two
// concurrent adjustments never use the same money. A reversal can name the payment or one of its chargebacks; either way the original is
// the payment.
func (r *intake) adjust(items []payment.Item) ([]payment.Item, error) {
	original, err := lockTransaction(r.tx, r.site.ID, r.in.LinkedID)
	if err == nil && original.Type.TakesBack() && *r.in.Type == payment.ChargebackReversal {
		r.reversed = original.ID
		original, err = lockTransaction(r.tx, r.site.ID, original.LinkedID)
	}
	if errors.Is(err, store.ErrNotFound) || err == nil && original.ChannelID != r.channel.ID {
		return nil, errs.WrongField("linked_id", "Transaction %d not found in the channel.", r.in.LinkedID)
	}
	if err != nil {
		return nil, err
	}
	if original.Status == payment.StatusLocked || r.in.Type.Operators() {
		if err := readChargebacks(r.tx, r.site.ID, []*payment.Transaction{&original}); err != nil {
			return nil, err
		}
	}
	r.original, r.before = original, copied(original)
	if err := r.leaveOutLater(); err != nil {
		return nil, err
	}
	if *r.in.Currency != original.Currency {
		r.problems.Wrong("currencies", "Transaction %d is in %s.", original.ID, original.Currency)
	}
	r.checkDays()
	if err := r.possible(); err != nil {
		return nil, err
	}
	if len(items) == 0 {
		if items, err = r.onlyItem(); err != nil {
			return nil, err
		}
	}
	for _, item := range items {
		if r.originalOf(item.BookingID) == nil {
			r.wrongItem(item.BookingID, "id", "Transaction %d is not a payment for booking %d.", original.ID, item.BookingID)
		}
	}
	if err := r.problems.Err(); err != nil {
		return nil, err
	}
	if items, err = r.inProportion(items); err != nil {
		return nil, err
	}
	if r.in.Type.Operators() {
		return r.turnChargeback(items), nil
	}
	if err := r.afterChargebacks(items); err != nil {
		return nil, err
	}
	rest, before := r.rest(), r.original.Remaining
	if err := r.take(items); err != nil {
		return nil, err
	}
	if r.request != nil {
		r.request.row.Reserved = before - r.original.Remaining
	}
	if r.original.Left() == 0 && original.Currency != original.BaseCurrency {
		return rest, nil
	}
	return items, nil
}

// Charged locks a payment and reads what was charged back of it and of its parts. store.ErrNotFound: there is no such transaction.
func Charged(tx *store.Tx, siteID, id int64) (payment.Transaction, error) {
	t, err := lockTransaction(tx, siteID, id)
	if err == nil {
		err = readChargebacks(tx, siteID, []*payment.Transaction{&t})
	}
	return t, err
}

// leaveOutLater ignores chargebacks that took effect after a refund when it bounds the refund (R3). Facts count in order of
// their effective time: had the refund been reported first, it would have been recorded. It is also evidence against the
// chargeback.
func (r *intake) leaveOutLater() error {
	if *r.in.Type != payment.Refund || r.original.ChargedBack == 0 {
		return nil
	}
	then := copied(r.original)
	// Requests have whole seconds, and the order within a second is unknown.
	at := r.effectiveAt().Truncate(time.Second).Add(time.Second)
	if err := readChargebacksBefore(r.tx, r.site.ID, at, []*payment.Transaction{&then}); err != nil {
		return err
	}
	// Later reversals count too.
	r.original.ChargedBack = min(r.original.ChargedBack, then.ChargedBack)
	for i := range r.original.Payments {
		part := &r.original.Payments[i]
		part.ChargedBack = min(part.ChargedBack, then.Payments[i].ChargedBack)
	}
	return nil
}

// afterChargebacks rejects a refund that exceeds what chargebacks have left of the payment or of one of its parts
// (R3).
func (r *intake) afterChargebacks(items []payment.Item) error {
	o := r.original
	if left := o.TotalRemaining(); o.ChargedBack > 0 && *r.in.Total > left {
		return errs.NotPossibleBecause("locked", "Transaction %d was charged back. Only %s %s of it remains.",
			o.ID, o.Currency, money.Format(left, o.Currency))
	}
	for _, item := range items {
		part := r.originalOf(item.BookingID)
		if left := part.Left(); part.ChargedBack > 0 && item.Total > left {
			return errs.NotPossibleBecause("locked", "Transaction %d was charged back. Only %s %s of it remains for booking %d.",
				o.ID, item.Currency, money.Format(left, item.Currency), item.BookingID)
		}
	}
	return nil
}

// checkDays adds a problem if an adjustment is dated before its original. Within a day the order does not matter:
// amounts count by day, and many systems do not store the times of refunds. Chargebacks and reversals are recorded
// whatever their day.
func (r *intake) checkDays() {
	at, made := r.in.EffectiveAt, r.original.EffectiveAt
	if !at.IsZero() && civil.DayOf(at) < civil.DayOf(made) && !r.in.Type.Operators() {
		r.problems.Wrong("effective_at", "Transaction %d was made on %s. Its %s must not be earlier.",
			r.original.ID, civil.DayOf(made), *r.in.Type)
	}
}

// rest returns the items of an adjustment that takes the whole remaining amount of the original.
func (r *intake) rest() (items []payment.Item) {
	for _, part := range r.original.Payments {
		if left := part.Left(); left > 0 {
			items = append(items, payment.Item{BookingID: part.BookingID, Currency: part.Currency, Total: left})
		}
	}
	return items
}

// possible returns an error of the kind NotPossible if the type or status of the original does not allow the adjustment.
func (r *intake) possible() error {
	o, t := r.original, *r.in.Type
	wantsAuthorisation := t == payment.Capture || t == payment.Void
	switch {
	case wantsAuthorisation && o.Type != payment.Authorize:
		return errs.NotPossibleBecause("not_an_authorisation", "Transaction %d is of type %s. A %s requires an authorisation.", o.ID, o.Type, t)
	case !wantsAuthorisation && !o.Type.Takes():
		return errs.NotPossibleBecause("not_a_payment", "Transaction %d is of type %s. A %s requires a purchase or a capture.", o.ID, o.Type, t)
	case t.Operators() && o.Status != payment.StatusComplete && o.Status != payment.StatusLocked:
		return errs.NotPossibleBecause("not_complete", "Transaction %d is %s. No money was taken, so nothing can be charged back.", o.ID, o.Status)
	case t.Operators():
		return nil // a chargeback is recorded whatever amount remains
	case o.Status == payment.StatusLocked && (t != payment.Refund || r.request != nil): // a reported refund is recorded all the same
		return errs.NotPossibleBecause("locked", "Transaction %d was charged back.", o.ID)
	case wantsAuthorisation && r.carriesOut() && o.Remaining > 0 && !o.InTime(r.effectiveAt()):
		return errs.NotPossibleBecause("authorisation_expired", "Transaction %d was not captured in time and is void.", o.ID)
	case o.Status != payment.StatusComplete && o.Status != payment.StatusExpired && o.Status != payment.StatusLocked:
		return errs.NotPossibleBecause("not_complete", "Transaction %d is %s.", o.ID, o.Status)
	case *r.in.Total > o.Remaining:
		return errs.NotPossibleBecause("exceeds_remaining", "%s of transaction %d remains.", onlyOrNothing(o.Remaining, o.Currency), o.ID)
	default:
		return nil
	}
}

// changeOf is how much the adjustment changes what a booking keeps of the original, after refunds and chargebacks.
func (r *intake) changeOf(bookingID int64) int64 {
	i := slices.IndexFunc(r.before.Payments, func(p payment.Payment) bool { return p.BookingID == bookingID })
	before, after := r.before.Payments[i], *r.originalOf(bookingID)
	if !r.in.Type.Operators() { // a refund ignores later chargebacks: see leaveOutLater
		after.ChargedBack = before.ChargedBack
	}
	return after.Left() - before.Left()
}

// originalOf returns the payment of the original for a booking, or nil if there is none.
func (r *intake) originalOf(bookingID int64) *payment.Payment {
	for i := range r.original.Payments {
		if r.original.Payments[i].BookingID == bookingID {
			return &r.original.Payments[i]
		}
	}
	return nil
}

// onlyItem returns the items of an adjustment that has none: the whole amount for the only booking of the original. If
// the payment is not in the base currency, the item is the same share of the base amount.
func (r *intake) onlyItem() ([]payment.Item, error) {
	if len(r.original.Payments) != 1 {
		r.problems.Missing("bookings")
		return nil, nil
	}
	part, total := r.original.Payments[0], *r.in.Total
	if r.original.Currency != r.original.BaseCurrency {
		of, base := r.original.Left(), part.Left()
		if r.in.Type.Operators() { // not bounded by the remaining amount, so take the share of the whole
			of, base = r.original.Total, part.Total
		}
		share := new(big.Int).Mul(big.NewInt(total), big.NewInt(base))
		var err error
		if total, err = money.Round(share, big.NewInt(of)); err != nil {
			return nil, err
		}
		total = max(total, 1) // an amount is never 0, even if its share rounds to 0
	}
	return []payment.Item{{BookingID: part.BookingID, Currency: part.Currency, Total: total}}, nil
}

// onlyOrNothing starts a sentence about what remains.
func onlyOrNothing(amount int64, currency money.Currency) string {
	if amount <= 0 {
		return "Nothing"
	}
	return fmt.Sprintf("Only %s %s", currency, money.Format(amount, currency))
}

// take lowers the remaining amounts of the original: that of the whole, in payment currency, and that of each part, in base
// currency. If an adjustment uses up one of the two, it takes the rest of the other; otherwise rounding or another day's rate
// could leave a small unusable amount. Chargebacks are kept, because a reversal returns them.
func (r *intake) take(items []payment.Item) error {
	for _, item := range items {
		part := r.originalOf(item.BookingID)
		if item.Total > part.Remaining {
			return errs.NotPossibleBecause("exceeds_remaining", "%s of transaction %d remains for booking %d.",
				onlyOrNothing(part.Remaining, part.Currency), r.original.ID, part.BookingID)
		}
		part.Remaining -= item.Total
	}
	r.original.Remaining -= *r.in.Total
	if r.original.Left() == 0 {
		for i := range r.original.Payments {
			r.original.Payments[i].Remaining -= r.original.Payments[i].Left()
		}
	}
	for _, part := range r.original.Payments {
		if part.Left() > 0 {
			return nil
		}
	}
	r.original.Remaining -= r.original.Left()
	return nil
}

// turnChargeback sets the status of the original: locked while more of a part has been charged back than reversed. This write holds the
// lock of the original, so no other write adds events.
func (r *intake) turnChargeback(items []payment.Item) []payment.Item {
	sign := int64(1)
	if *r.in.Type == payment.ChargebackReversal {
		sign = -1
	}
	r.original.ChargedBack += sign * *r.in.Total
	for _, item := range items {
		r.originalOf(item.BookingID).ChargedBack += sign * item.Total
	}
	items = r.emptyParts(items)
	r.wasLocked = r.original.Status == payment.StatusLocked
	r.original.Status = payment.StatusComplete
	for _, part := range r.original.Payments {
		if part.ChargedBack > 0 {
			r.original.Status = payment.StatusLocked
		}
	}
	return items
}

// emptyParts adds the remainders that rounding has left on the parts: to a chargeback that uses up the payment, or to a reversal of
// everything that was charged back (R3).
func (r *intake) emptyParts(items []payment.Item) []payment.Item {
	o := &r.original
	charges := r.in.Type.TakesBack()
	if o.Currency == o.BaseCurrency || charges && o.Left() > 0 || !charges && o.ChargedBack != 0 {
		return items
	}
	for i := range o.Payments {
		part := &o.Payments[i]
		left, sign := part.Left(), int64(1)
		if !charges {
			left, sign = part.ChargedBack, -1
		}
		if left <= 0 {
			continue
		}
		at := slices.IndexFunc(items, func(item payment.Item) bool { return item.BookingID == part.BookingID })
		if at < 0 {
			at = len(items)
			items = append(items, payment.Item{BookingID: part.BookingID, Currency: part.Currency})
		}
		items[at].Total += left
		part.ChargedBack += sign * left
	}
	return items
}

// inProportion settles an adjustment that is not in the base currency at the payment's own rate (R3). The reported base
// amount may differ by rounding; any other difference, such as the rate of another day, is flagged.
func (r *intake) inProportion(items []payment.Item) ([]payment.Item, error) {
	o := r.original
	if o.Currency == o.BaseCurrency || *r.in.Type == payment.Capture || *r.in.Type == payment.Void {
		return items, nil
	}
	share := new(big.Int).Mul(big.NewInt(*r.in.Total), big.NewInt(o.BaseTotal))
	due, err := money.Round(share, big.NewInt(o.Total))
	if err != nil {
		return nil, err
	}
	due = max(due, 1)
	if off := payment.BaseTotal(items) - due; max(off, -off) <= int64(len(items)) {
		return items, nil
	}
	refund, rest := *r.in.Type == payment.Refund, r.rest()
	if refund && payment.BaseTotal(items) == payment.BaseTotal(rest) {
		return items, nil // it uses up the allocations, and so the payment
	}
	r.rateDisagrees = true
	if refund && *r.in.Total == o.Left() {
		return rest, nil
	}
	weights := make([]int64, len(items))
	for i, item := range items {
		weights[i] = item.Total
	}
	settled := slices.Clone(items)
	for i, total := range money.Split(due, weights) {
		settled[i].Total = max(total, 1)
		if left := r.originalOf(settled[i].BookingID).Left(); refund && left > 0 {
			settled[i].Total = min(settled[i].Total, left)
		}
	}
	return settled, nil
}

// flagDoubleRecovery flags the chargebacks and reversals of the original that are a double recovery, and no others. A
// refund that is reported late can change this for earlier chargebacks.
func (r *intake) flagDoubleRecovery() error {
	charged := false
	for _, part := range r.t.Payments {
		events, err := ledger.Events(r.tx, r.site.ID, part.LinkedID)
		if err != nil {
			return err
		}
		charged = charged || slices.ContainsFunc(events, func(e protection.Event) bool { return e.Kind != payment.Refund })
	}
	if !charged {
		return nil
	}
	allocations, err := ledger.AllocationsOfTransaction(r.tx, r.site.ID, r.original.ID)
	if err != nil {
		return err
	}
	double := map[int64]bool{}
	for _, a := range allocations {
		events, err := ledger.Events(r.tx, r.site.ID, a.ID)
		if err != nil {
			return err
		}
		for id, is := range a.DoubleRecoveries(events) {
			double[id] = double[id] || is
		}
	}
	for _, id := range slices.Sorted(maps.Keys(double)) {
		t, err := lockTransaction(r.tx, r.site.ID, id)
		if err != nil {
			return err
		}
		if double[id] == slices.Contains(t.Flags, payment.FlagDoubleRecovery) {
			continue
		}
		t.Flags = slices.DeleteFunc(slices.Clone(t.Flags), func(f string) bool { return f == payment.FlagDoubleRecovery })
		if double[id] {
			t.Flags = append(t.Flags, payment.FlagDoubleRecovery)
		}
		if err := saveTransaction(r.tx, t); err != nil {
			return err
		}
		if id == r.t.ID {
			r.t.Flags = t.Flags
		}
	}
	return nil
}

// saveOriginal stores the original. If its status changed to or from locked, it updates the sums of its bookings.
func (r *intake) saveOriginal() error {
	if err := saveTransaction(r.tx, r.original); err != nil {
		return err
	}
	locked := r.original.Status == payment.StatusLocked
	if !r.in.Type.Operators() || locked == r.wasLocked {
		return nil
	}
	for _, part := range r.original.Payments {
		b, err := bookings.Lock(r.tx, r.site.ID, part.BookingID)
		if err != nil {
			return err
		}
		if locked {
			b.Sums.LockedPayments++
		} else {
			b.Sums.LockedPayments--
		}
		if err := bookings.SetSums(r.tx, b); err != nil {
			return err
		}
	}
	return nil
}
