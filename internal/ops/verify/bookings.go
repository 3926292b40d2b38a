package verify

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"slices"
	"strings"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/lib/digest"
	"holdfast/internal/store"
)

// booked is a booking with everything that its checks need.
type booked struct {
	booking.Booking
	status      booking.BookingStatus
	outstanding string
	digest      []byte
	suppliers   string // as stored in the row
	own         []int64
	parts       []part
	totals      []exposure.TotalChange
	histories   []protection.History
	premium     map[int64][]protection.PremiumLine // by allocation
	lines       map[int64]limitLine                // by allocation
	ends        map[int64]storedEnd                // by allocation
}

// risk is the input for the exposure of the booking.
func (b *booked) risk() exposure.BookingRisk {
	return exposure.BookingRisk{Total: b.Total, Totals: b.totals, Allocations: b.histories}
}

var ofBookings = []check[*booked]{
	{"booking sums", bookingSums},
	{"booking status", bookingStatus},
	{"booking fields", bookingFields},
	{"booking totals", bookingTotals},
	{"booking suppliers", bookingSuppliers},
	{"booking outstanding", bookingOutstanding},
}

func walkBookings(l *look) error {
	begun(l, ofBookings)
	begun(l, ofAllocations)
	return l.pages("bookings", func(first, last int64) error {
		page, err := l.readBookings(first, last)
		if err != nil {
			return err
		}
		for _, b := range page {
			if err := each(l, ofBookings, "bookings", b.ID, b); err != nil {
				return err
			}
			for _, h := range b.histories {
				item := &allocated{History: h, booking: b, lines: b.premium[h.ID], line: b.lines[h.ID], end: b.ends[h.ID]}
				delete(b.premium, h.ID)
				if err := each(l, ofAllocations, "allocations", h.ID, item); err != nil {
					return err
				}
			}
			for id, lines := range b.premium {
				l.wrong(place{"premium lines", "premium_lines", lines[0].ID}, "booking_id", b.ID, "that of allocation "+show(id))
			}
			if err := l.exposure.should(b); err != nil {
				return err
			}
		}
		return nil
	})
}

// sumsOf adds up the payments of a booking again.
func sumsOf(parts []part) (s booking.BookingSums, payments int64) {
	byID, transactions := map[int64]part{}, map[int64]bool{}
	refunded, chargedBack := map[int64]int64{}, map[int64]int64{} // by the payment that they adjust
	for _, p := range parts {
		byID[p.ID] = p
		switch {
		case p.Type == payment.Refund && (counts(p.Status) || open(p.Status)):
			refunded[p.LinkedID] += p.Total
		case p.Type.TakesBack() && counts(p.Status):
			chargedBack[p.LinkedID] += p.Total
		case p.Type == payment.ChargebackReversal && counts(p.Status):
			chargedBack[p.LinkedID] -= p.Total
		}
	}
	for _, p := range parts {
		original := byID[p.LinkedID]
		happened, possible := counts(p.Status), counts(p.Status) || open(p.Status)
		if took(p.Type, p.Status) {
			left := max(0, p.Total-refunded[p.ID]-max(0, chargedBack[p.ID]))
			s.Net, s.Held = s.Net+left, s.Held+left-p.Total
			transactions[p.TransactionID] = true
			if p.Status == payment.StatusLocked {
				s.LockedPayments++
			}
		}
		switch {
		case p.Type == payment.Purchase && possible:
			s.Held += p.Total
		case p.Type == payment.Authorize && happened:
			s.Held, s.OpenAuthorised = s.Held+p.Total, s.OpenAuthorised+p.Total
		case p.Type == payment.Authorize && possible:
			s.Held += p.Total
		case p.Type == payment.Capture && original.Status == payment.StatusExpired && possible:
			s.Held += p.Total // an expired authorisation only holds captured amounts
		case p.Type == payment.Capture && original.Status == payment.StatusComplete && happened:
			s.OpenAuthorised -= p.Total
		case p.Type == payment.Void && original.Status == payment.StatusComplete && happened:
			s.Held, s.OpenAuthorised = s.Held-p.Total, s.OpenAuthorised-p.Total
		case p.Type == payment.Refund && open(p.Status): // it has not been deleted yet
			s.Net, s.Held = s.Net+p.Total, s.Held+p.Total
		}
	}
	return s, int64(len(transactions))
}

// bookingSums: the sums of a booking are those of its payments.
func bookingSums(l *look, at place, b *booked) error {
	should, payments := sumsOf(b.parts)
	same(l, at, "net", b.Sums.Net, should.Net)
	same(l, at, "held", b.Sums.Held, should.Held)
	same(l, at, "open_authorised", b.Sums.OpenAuthorised, should.OpenAuthorised)
	same(l, at, "locked_payments", b.Sums.LockedPayments, should.LockedPayments)
	same(l, at, "payments", b.Payments, payments)
	return nil
}

// bookingStatus: the status follows from the payments.
func bookingStatus(l *look, at place, b *booked) error {
	recomputed := b.Booking
	recomputed.Sums, recomputed.Payments = sumsOf(b.parts)
	same(l, at, "status", b.status, recomputed.StoredStatus())
	return nil
}

// bookingFields: the fields that a caller can set match their digest.
func bookingFields(l *look, at place, b *booked) error {
	sum, err := digest.Of(b.Facts(b.suppliers)...)
	if err != nil {
		return err
	}
	if len(b.digest) == 0 && b.ID <= l.starts["bookings"] {
		return nil
	}
	if !bytes.Equal(b.digest, sum) {
		l.wrong(at, "digest", hexOf(b.digest), hexOf(sum))
	}
	return nil
}

func hexOf(digest []byte) string {
	if len(digest) == 0 {
		return nothing
	}
	return hex.EncodeToString(digest)
}

// bookingTotals: all earlier totals are on record.
func bookingTotals(l *look, at place, b *booked) error {
	same(l, at, "total_changed", b.TotalChanged, len(b.totals) > 0)
	return nil
}

// bookingSuppliers: the row repeats the list of its suppliers.
func bookingSuppliers(l *look, at place, b *booked) error {
	same(l, at, "suppliers", b.suppliers, protection.SupplierKey(b.own))
	return nil
}

// bookingOutstanding: what the row keeps for E4 (R7) is what follows from its payments. Two lists that always come to the
// same are the same.
func bookingOutstanding(l *look, at place, b *booked) error {
	if b.outstanding == "" {
		return nil // nothing has changed since the column came
	}
	should := b.risk().Outstanding()
	kept, err := exposure.ReadOutstanding(b.outstanding)
	if err != nil {
		l.wrong(at, "outstanding", b.outstanding, exposure.OutstandingText(should))
		return nil
	}
	deltas := exposure.InstalmentDeltas
	if len(exposure.Difference(deltas(kept, b.ChannelID, b.Currency), deltas(should, b.ChannelID, b.Currency))) > 0 ||
		kept[len(kept)-1].Total != b.Total {
		l.wrong(at, "outstanding", b.outstanding, exposure.OutstandingText(should))
	}
	return nil
}

// readBookings reads the bookings with ids from first to last, in order.
func (l *look) readBookings(first, last int64) ([]*booked, error) {
	var list []*booked
	byID, args := map[int64]*booked{}, []any{l.site.ID, first, last}
	err := l.tx.Query(`SELECT `+bookings.BookingColumns+`, b.status, b.outstanding, b.digest, b.suppliers FROM bookings b
		WHERE b.site_id = $1 AND b.id BETWEEN $2 AND $3 ORDER BY b.id`, args, func(scan func(dest ...any) error) error {
		b := &booked{premium: map[int64][]protection.PremiumLine{}, lines: map[int64]limitLine{}, ends: map[int64]storedEnd{}}
		var err error
		b.Booking, err = bookings.ScanBooking(func(dest ...any) error {
			return scan(append(dest, &b.status, &b.outstanding, &b.digest, &b.suppliers)...)
		})
		list, byID[b.ID] = append(list, b), b
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, read := range []func(byID map[int64]*booked, args []any) error{
		l.readPartsOfBookings, l.readTotals, l.readSuppliers, l.readHistories, l.readLimitLines, l.readEnds,
	} {
		if err := read(byID, args); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (l *look) readPartsOfBookings(byID map[int64]*booked, args []any) error {
	return l.tx.Query(`SELECT `+partColumns+` FROM `+partSource+`
		WHERE p.site_id = $1 AND p.booking_id BETWEEN $2 AND $3`, args, func(scan func(dest ...any) error) error {
		p, err := scanPart(scan)
		if b := byID[p.BookingID]; b != nil {
			b.parts = append(b.parts, p)
		}
		return err
	})
}

func (l *look) readTotals(byID map[int64]*booked, args []any) error {
	return l.tx.Query(`SELECT booking_id, changed_at, total FROM booking_totals
		WHERE site_id = $1 AND booking_id BETWEEN $2 AND $3 ORDER BY id`, args, func(scan func(dest ...any) error) error {
		var id, changed int64
		var c exposure.TotalChange
		err := scan(&id, &changed, &c.Before)
		c.At = store.Instant(changed)
		if b := byID[id]; b != nil {
			b.totals = append(b.totals, c)
		}
		return err
	})
}

func (l *look) readSuppliers(byID map[int64]*booked, args []any) error {
	return l.tx.Query(`SELECT booking_id, supplier_id FROM booking_suppliers
		WHERE site_id = $1 AND booking_id BETWEEN $2 AND $3`, args, func(scan func(dest ...any) error) error {
		var id, supplier int64
		err := scan(&id, &supplier)
		if b := byID[id]; b != nil {
			b.own = append(b.own, supplier)
		}
		return err
	})
}

func (l *look) readHistories(byID map[int64]*booked, args []any) error {
	first, last := args[1].(int64), args[2].(int64)
	histories, err := ledger.HistoriesOfBookings(l.tx, l.site.ID, first, last)
	if err != nil {
		return err
	}
	for _, h := range histories {
		if b := byID[h.BookingID]; b != nil {
			b.histories = append(b.histories, h)
		}
	}
	premium, err := ledger.PremiumOfBookings(l.tx, l.site.ID, first, last)
	for id, lines := range premium {
		for _, line := range lines {
			if b := byID[line.BookingID]; b != nil {
				b.premium[id] = append(b.premium[id], line)
			}
		}
	}
	return err
}

func (l *look) readLimitLines(byID map[int64]*booked, args []any) error {
	return l.tx.Query(`SELECT a.booking_id, l.allocation_id, l.channel_id, l.currency, l.amount, l.due_day
		FROM allocations a JOIN limit_lines l ON l.site_id = a.site_id AND l.allocation_id = a.id
		WHERE a.site_id = $1 AND a.booking_id BETWEEN $2 AND $3`, args, func(scan func(dest ...any) error) error {
		var booking, id int64
		var due sql.NullInt64
		line := limitLine{has: true}
		err := scan(&booking, &id, &line.channel, &line.currency, &line.Amount, &due)
		line.Due = store.DayOr(due)
		if b := byID[booking]; b != nil {
			b.lines[id] = line
		}
		return err
	})
}

// lastTerms are the present terms of an allocation.
func lastTerms(h protection.History) (protection.Terms, bool) {
	if len(h.Terms) == 0 {
		return protection.Terms{}, false
	}
	return h.Terms[len(h.Terms)-1].Terms, true
}

// dayText shows a day that may be missing.
func dayText(d civil.Day) string {
	if d == civil.NoDay {
		return nothing
	}
	return d.String()
}

// words joins texts for a finding.
func words(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), " ")
}
