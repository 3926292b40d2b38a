package trade

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/web/kit"
)

// payPage is the data of the form for a payment or an adjustment.
type payPage struct {
	Form       *kit.Form
	Booking    booking.Booking
	Payment    payment.Transaction // the adjusted payment
	Kind       payment.TransactionType
	Splits     []split
	Currencies any
	Methods    any
	Act, Back  string
}

// split is the field for one booking's share.
type split struct{ Field, Label string }

// payFields are the fields of the payment form.
var payFields = []string{
	"transaction_types", "total", "currencies", "base_total", "effective_at", "reference", "psp", "payment_methods", "card_types",
	"bin_number", "last_four_digits", "auth_code", "acquirer_reference", "processor_reference", "payee_name", "payee_surname", "payee_email", "content",
}

// pay logs a payment for one booking that was taken elsewhere.
func (p *pages) pay(v *kit.Visit) error {
	b, err := p.bookingOf(v)
	if err != nil {
		return err
	}
	form := kit.Filled("key", p.app.Payments.NewUUID(), "currencies", string(b.Currency), "total", money.FormatPlain(max(0, b.Total-b.Sums.Held), b.Currency),
		"payment_methods", payment.CreditCard, "payee_name", b.Firstname, "payee_surname", b.Surname, "payee_email", b.Email)
	if v.R.Method == http.MethodPost {
		if form, err = v.Form(); err != nil {
			return err
		}
		made, _, err := p.app.Disputes.CreateTransaction(v.R.Context(), v.Once(form), paymentOf(form, b))
		if ok, err := took(v, form, err, payFields...); err != nil {
			return err
		} else if ok {
			return v.Done(paymentAt(v, made.ID), "Payment of %s logged.", kit.Money(made.Total, made.Currency))
		}
	}
	page := p.inBooking(v, b)
	page.Title = "Log a payment"
	var currencies []string
	for _, c := range money.Currencies() {
		currencies = append(currencies, string(c), string(c))
	}
	page.Data = payPage{
		Form: form, Booking: b, Currencies: kit.Options(currencies...), Act: "Log payment", Back: bookingAt(v, b.ID),
		Methods: kit.Options(wordChoices("", payment.PaymentMethods)[2:]...),
	}
	return v.Show(p.Pages, "pay.html", page)
}

// paymentOf reads the payment form.
func paymentOf(form *kit.Form, b booking.Booking) payment.NewTransaction {
	r := form.Reading()
	kind := payment.TransactionType(form.Get("transaction_types"))
	if kind != payment.Purchase && kind != payment.Authorize {
		r.Problems.Wrong("transaction_types", "Choose purchase or authorisation.")
	}
	in := details(r)
	in.ChannelID, in.Type, in.LinkedID = &b.ChannelID, &kind, 0
	currency, err := money.ParseCurrency(strings.ToUpper(form.Get("currencies")))
	if err != nil {
		r.Problems.Wrong("currencies", "Unknown currency.")
	}
	in.Currency, in.Total = &currency, r.Amount("total", currency)
	base := in.Total
	if currency != b.Currency {
		if base = r.Amount("base_total", b.Currency); base == nil {
			r.Problems.Wrong("base_total", "Enter the amount in %s, the currency of the booking.", b.Currency)
		}
	}
	if base != nil {
		in.Items = &[]payment.Item{{BookingID: b.ID, Currency: b.Currency, Total: *base}}
	}
	in.Problems = r.Problems
	return in
}

// details reads the fields that the payment forms share.
func details(r *kit.Reading) payment.NewTransaction {
	f := r.Form
	return payment.NewTransaction{
		EffectiveAt: r.Instant("effective_at"), Reference: f.Get("reference"), PSP: f.Get("psp"), Method: f.Get("payment_methods"),
		CardType: f.Get("card_types"), BIN: f.Get("bin_number"), LastFour: f.Get("last_four_digits"), AuthCode: f.Get("auth_code"),
		AcquirerReference: f.Get("acquirer_reference"), ProcessorReference: f.Get("processor_reference"), PayeeName: f.Get("payee_name"), PayeeSurname: f.Get("payee_surname"),
		PayeeEmail: f.Get("payee_email"), Content: f.Get("content"),
	}
}

// adjusting logs an adjustment of a payment: a refund, capture, void, chargeback or reversal.
func (p *pages) adjusting(kind payment.TransactionType) kit.Handler {
	return func(v *kit.Visit) error { return p.adjust(v, kind) }
}

func (p *pages) adjust(v *kit.Visit, kind payment.TransactionType) error {
	t, err := p.paymentOf(v)
	if err != nil {
		return err
	}
	form := p.adjustForm(t, kind)
	if v.R.Method == http.MethodPost {
		if form, err = v.Form(); err != nil {
			return err
		}
		made, _, err := p.app.Disputes.CreateTransaction(v.R.Context(), v.Once(form), adjustment(form, t, kind))
		fields := []string{"total", "effective_at", "reference", "content", "reason_code", "challenge_date"}
		for _, s := range splitsOf(t) {
			fields = append(fields, s.Field)
		}
		if ok, err := took(v, form, err, fields...); err != nil {
			return err
		} else if ok {
			return v.Done(paymentAt(v, made.ID), "%s of %s logged.", kit.Say(string(kind)), kit.Money(made.Total, made.Currency))
		}
	} else if !slices.Contains(p.adjustmentsOf(v, t), kind) {
		return v.Done(paymentAt(v, t.ID), "This is not possible in the payment's current status.")
	}
	return v.Show(p.Pages, "adjust.html", kit.Page{
		Title: adjustmentText(kind), Menu: "/payments",
		Path: []kit.Link{{Text: "Payments", Href: v.At("/payments")}, {Text: paymentName(t), Href: paymentAt(v, t.ID)}},
		Data: payPage{Form: form, Payment: t, Kind: kind, Splits: splitsOf(t), Act: adjustmentText(kind), Back: paymentAt(v, t.ID)},
	})
}

// splitsOf returns the fields for the bookings' shares, if there are several.
func splitsOf(t payment.Transaction) (list []split) {
	if len(t.Payments) < 2 {
		return nil
	}
	for _, part := range t.Payments {
		name := part.BookingReference
		if name == "" {
			name = strconv.FormatInt(part.BookingID, 10)
		}
		list = append(list, split{fmt.Sprintf("split_%d", part.BookingID), fmt.Sprintf("Of booking %s, in %s", name, part.Currency)})
	}
	return list
}

// adjustForm is filled with everything that is left.
func (p *pages) adjustForm(t payment.Transaction, kind payment.TransactionType) *kit.Form {
	total := t.TotalRemaining()
	switch kind {
	case payment.Chargeback, payment.Prevented:
		total = t.Left()
	case payment.ChargebackReversal:
		total = t.ChargedBack
	}
	form := kit.Filled("key", p.app.Payments.NewUUID(), "total", money.FormatPlain(total, t.Currency))
	for i, s := range splitsOf(t) {
		part := t.Payments[i].Left()
		if kind == payment.ChargebackReversal {
			part = t.Payments[i].ChargedBack
		}
		form.Values.Set(s.Field, money.FormatPlain(part, t.Payments[i].Currency))
	}
	return form
}

// adjustment reads the adjustment form.
func adjustment(form *kit.Form, t payment.Transaction, kind payment.TransactionType) payment.NewTransaction {
	r := form.Reading()
	in := details(r)
	in.ChannelID, in.Type, in.Currency, in.LinkedID, in.PSP, in.Method = &t.ChannelID, &kind, &t.Currency, t.ID, t.PSP, t.Method
	in.Total = r.Amount("total", t.Currency)
	if kind.TakesBack() {
		in.ReasonCode, in.ChallengeDay = form.Get("reason_code"), r.Day("challenge_date")
	}
	if splits := splitsOf(t); splits != nil {
		items := []payment.Item{}
		for i, s := range splits {
			part := t.Payments[i]
			if amount := r.Amount(s.Field, part.Currency); amount != nil && *amount != 0 {
				items = append(items, payment.Item{BookingID: part.BookingID, Currency: part.Currency, Total: *amount})
			}
		}
		in.Items = &items
	}
	in.Problems = r.Problems
	return in
}
