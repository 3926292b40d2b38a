package payment

import (
	"cmp"
	"strconv"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/modal"
	"holdfast/internal/errs"
)

// ModalAttempt is one attempt to pay a booking in the modal.
type ModalAttempt struct {
	TransactionID int64
	AuthHash      string
	Status        TransactionStatus
	Refused       bool // by the bank, or because the shopper did not pass the challenge
}

// How many refusals, and how many attempts in all, one auth string has for one booking. An attempt that did not reach
// the bank is no refusal.
const (
	modalRefusals = 3
	modalAttempts = 10
)

// AnotherAttempt returns nil when the modal may try to pay a booking with an auth string. Otherwise it returns a
// NotPossible error with the reason attempt_open, already_paid or attempts_used. Its parameter transaction_id is the
// transaction that is the reason.
func AnotherAttempt(before []ModalAttempt, authHash string) error {
	refusals, own := 0, 0
	var last int64
	for _, a := range before {
		switch {
		case a.Status == StatusPending || a.Status == StatusIncomplete:
			return lookAt(a.TransactionID, "attempt_open", "The outcome of an earlier attempt is not yet known.")
		case a.AuthHash != authHash:
			continue
		case a.Status == StatusComplete || a.Status == StatusLocked:
			return lookAt(a.TransactionID, "already_paid", "This has already been paid.")
		}
		own++
		last = a.TransactionID
		if a.Refused {
			refusals++
		}
	}
	if refusals >= modalRefusals || own >= modalAttempts {
		return lookAt(last, "attempts_used", "No attempts are left for this payment.")
	}
	return nil
}

func lookAt(transactionID int64, reason, message string) error {
	f := errs.NotPossibleBecause(reason, "%s", message)
	f.Params = map[string]string{"transaction_id": strconv.FormatInt(transactionID, 10)}
	return f
}

// Fill completes a payment of the modal with the verified fields. If its currency is not that of the booking, it pays
// the full unpaid amount: the integrator has converted the amount.
func (n *NewTransaction) Fill(s modal.Session, b booking.Booking) {
	id, currency, total := s.ChannelID, s.Currency(), s.Total()
	kind := Purchase
	if n.Type != nil {
		kind = cmp.Or(*n.Type, Purchase)
	}
	if kind != Purchase && kind != Authorize {
		n.Problems.Wrong("transaction_types", "Must be purchase or authorize in the payment modal.")
		kind = Purchase
	}
	n.ChannelID, n.Currency, n.Total, n.Type = &id, &currency, &total, &kind
	n.Items = &[]Item{ModalItem(b, s)}
	n.Method, n.Attempt3DS, n.Modal = CreditCard, true, &s
}

// ModalItem is the part of the modal's payment for the booking: all of the payment or, in another currency, the full
// unpaid amount. It is at least 1: AnotherAttempt or the check of the total detects a booking that is already paid.
func ModalItem(b booking.Booking, s modal.Session) Item {
	item := Item{BookingID: b.ID, Currency: b.Currency, Total: s.Total()}
	if b.Currency != s.Currency() {
		item.Total = max(1, b.Unpaid())
	}
	return item
}
