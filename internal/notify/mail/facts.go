package mail

import (
	"slices"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// facts is the data for e-mails about a batch of a site's events, read with a few statements.
type facts struct {
	site      merchant.Site
	payments  map[int64]payment.Transaction
	channels  map[int64]merchant.Channel
	bookings  map[int64]booking.Booking  // of payments that travellers are notified of
	protected map[int64]ledger.Protected // of these bookings
}

func readFacts(tx *store.Tx, siteID int64, list []event.Event) (f facts, err error) {
	if len(list) == 0 {
		return f, nil
	}
	if f.site, err = merchants.Site(tx, siteID); err != nil {
		return f, err
	}
	var ids []int64
	for _, e := range list {
		if aboutPayment(e.Type) {
			ids = append(ids, e.ObjectID)
		}
	}
	if f.payments, err = payments.TransactionsWithIDs(tx, siteID, distinct(ids)); err != nil {
		return f, err
	}
	f.channels = map[int64]merchant.Channel{}
	var booked []int64
	for _, t := range f.payments {
		if _, known := f.channels[t.ChannelID]; !known {
			if f.channels[t.ChannelID], err = merchants.Channel(tx, siteID, t.ChannelID); err != nil {
				return f, err
			}
		}
		if isNews(t) && tellsTravellers(t.Type) {
			for _, p := range t.Payments {
				booked = append(booked, p.BookingID)
			}
		}
	}
	booked = distinct(booked)
	if f.bookings, err = bookings.WithIDs(tx, siteID, booked); err != nil {
		return f, err
	}
	f.protected, err = ledger.ProtectedOfEach(tx, siteID, booked)
	return f, err
}

// aboutPayment reports whether events of a type are about a transaction.
func aboutPayment(t event.Type) bool {
	return t == event.TransactionCompleted || t == event.TransactionFailed
}

func distinct(ids []int64) []int64 { return slices.Compact(slices.Sorted(slices.Values(ids))) }

// happened is a completed transaction. known is false if it is gone.
func (f facts) happened(tx *store.Tx, e event.Event) (h happening, known bool) {
	h = happening{facts: f, eventID: e.ID, at: e.At, failed: e.Type == event.TransactionFailed, realTime: sites.RealNow(tx)}
	h.payment, known = f.payments[e.ObjectID]
	h.channel = f.channels[h.payment.ChannelID]
	return h, known
}
