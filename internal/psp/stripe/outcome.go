package stripe

import (
	"slices"

	"holdfast/internal/domain/payment"
	"holdfast/internal/psp"

	stripe "github.com/stripe/stripe-go/v85"
)

// unconfirmed reports whether an intent was opened, but never confirmed.
func unconfirmed(i *stripe.PaymentIntent) bool {
	switch i.Status {
	case stripe.PaymentIntentStatusRequiresPaymentMethod, stripe.PaymentIntentStatusRequiresConfirmation:
		return i.LastPaymentError == nil && i.LatestCharge == nil
	default:
		return false
	}
}

// outcome reads the result of a charge from its intent. A status that is not known or not expected is Unknown.
func outcome(i *stripe.PaymentIntent) psp.Result {
	r := psp.Result{Outcome: psp.Unknown, ProcessorID: i.ID}
	r = withCharge(r, i.LatestCharge)
	switch i.Status {
	case stripe.PaymentIntentStatusSucceeded:
		return approved(r, i.AmountReceived, i.Currency)
	case stripe.PaymentIntentStatusRequiresCapture:
		return approved(r, i.AmountCapturable, i.Currency)
	case stripe.PaymentIntentStatusCanceled:
		return cancelled(r, i)
	case stripe.PaymentIntentStatusRequiresAction:
		if a := i.NextAction; a != nil && a.RedirectToURL != nil && a.RedirectToURL.URL != "" {
			r.Outcome = psp.Pending
			r.Challenge = &payment.Challenge{Type: "redirect", Value: a.RedirectToURL.URL}
		}
	case stripe.PaymentIntentStatusRequiresPaymentMethod:
		if i.LastPaymentError != nil {
			return declined(r, i.LastPaymentError)
		}
	}
	return r
}

// approved sets the amount of a result. An amount that cannot be read makes the outcome Unknown: a person has to
// look.
func approved(r psp.Result, amount int64, code stripe.Currency) psp.Result {
	counted, _, err := fromProcessor(amount, string(code))
	if err != nil {
		r.Outcome, r.Message = psp.Unknown, "the amount cannot be read: "+err.Error()
		return r
	}
	r.Outcome, r.Amount = psp.Approved, counted
	return r
}

// cancelled reads an intent that was cancelled. When its charge had succeeded, the charge is approved: that the money
// was released later is another operation. Otherwise the shopper did not finish the challenge in time.
func cancelled(r psp.Result, i *stripe.PaymentIntent) psp.Result {
	switch c := i.LatestCharge; {
	case c != nil && c.Status == stripe.ChargeStatusSucceeded:
		return approved(r, c.Amount, c.Currency)
	case i.LastPaymentError != nil:
		return declined(r, i.LastPaymentError)
	case i.CancellationReason == neverConfirmed:
		r.Outcome = psp.Absent
	default:
		r.Outcome, r.Decline = psp.Declined, psp.DeclineAbandoned
		r.Code, r.Message = "canceled", "the payment was cancelled before the shopper was authenticated"
		r.ThreeDS.Status = "abandoned"
	}
	return r
}

// neverConfirmed is the reason that we give when we cancel an intent that was never confirmed. Nothing else here uses
// it.
const neverConfirmed = stripe.PaymentIntentCancellationReasonAbandoned

// declined adds the reason of a decline to a result.
func declined(r psp.Result, e *stripe.Error) psp.Result {
	r.Outcome, r.Amount = psp.Declined, 0
	r.Decline, r.Code = declineOf(string(e.DeclineCode), string(e.Code))
	r.Message = clean(e.Msg)
	if r.Decline == psp.DeclineNotAuthenticated && r.ThreeDS.Status == "" {
		r.ThreeDS.Status = "failed"
	}
	if m := e.PaymentMethod; m != nil && m.Card != nil && r.Scheme == "" {
		r.Scheme, r.LastFour = scheme(string(m.Card.Brand)), m.Card.Last4
	}
	return r
}

// withCharge adds the card and the authentication of the processor's charge to a result.
func withCharge(r psp.Result, c *stripe.Charge) psp.Result {
	// Without an expansion the charge is only an id.
	if c == nil || c.PaymentMethodDetails == nil || c.PaymentMethodDetails.Card == nil {
		return r
	}
	card := c.PaymentMethodDetails.Card
	r.AuthCode, r.LastFour = card.AuthorizationCode, card.Last4
	// A card may have two schemes: the scheme used for the payment counts.
	if r.Scheme = scheme(string(card.Network)); r.Scheme == "" {
		r.Scheme = scheme(string(card.Brand))
	}
	if card.ThreeDSecure != nil {
		r.ThreeDS = authentication(card.ThreeDSecure)
	}
	return r
}

// scheme returns the scheme if package card knows it, else "". Both use the same names.
func scheme(name string) string {
	if slices.Contains([]string{"visa", "mastercard", "amex", "discover", "diners", "jcb", "unionpay"}, name) {
		return name
	}
	return ""
}

// authentication reads the result of 3DS. The issuer is liable when it authenticated the cardholder or acknowledged
// the attempt, unless the indicator of the scheme (ECI) says that the payment was not secure.
func authentication(t *stripe.ChargePaymentMethodDetailsCardThreeDSecure) payment.ThreeDS {
	a := payment.ThreeDS{
		Flow: string(t.AuthenticationFlow), ECI: string(t.ElectronicCommerceIndicator),
		Version: t.Version, DirectoryID: t.TransactionID,
	}
	switch t.Result {
	case stripe.ChargePaymentMethodDetailsCardThreeDSecureResultAuthenticated:
		a.Status = "authenticated"
	case stripe.ChargePaymentMethodDetailsCardThreeDSecureResultAttemptAcknowledged:
		a.Status = "attempted"
	case stripe.ChargePaymentMethodDetailsCardThreeDSecureResultFailed:
		a.Status = "failed"
		switch t.ResultReason {
		case stripe.ChargePaymentMethodDetailsCardThreeDSecureResultReasonAbandoned,
			stripe.ChargePaymentMethodDetailsCardThreeDSecureResultReasonCanceled:
			a.Status = "abandoned"
		}
	default:
		// Not supported, exempted, failed on the way, or a new value: nobody was authenticated.
		a.Status = "unavailable"
	}
	secure := a.Status == "authenticated" || a.Status == "attempted"
	a.LiabilityShift = secure && a.ECI != "07" && a.ECI != "00"
	return a
}
