package underwriting

import (
	"net/mail"
	"net/url"
	"strings"

	"holdfast/internal/domain/card"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
)

// Facts are the information that an underwriter needs about a merchant. Amounts are minor units of Currency. Problems
// use the JSON names of the fields.
type Facts struct {
	Company        string         `json:"company"`
	RegistrationNo string         `json:"registration_number"`
	Website        string         `json:"website"`
	Sells          string         `json:"sells"` // what they sell, and to whom
	Contact        string         `json:"contact_name"`
	ContactMail    string         `json:"contact_mail"`
	ContactPhone   string         `json:"contact_phone"`
	Licence        string         `json:"licence"` // one of Licences
	LicenceNumber  string         `json:"licence_number"`
	LicenceBody    string         `json:"licence_body"` // who gave it
	LicenceAmount  int64          `json:"licence_amount"`
	SupplierCover  string         `json:"supplier_cover"` // what happens when a supplier fails
	Currency       money.Currency `json:"currencies"`
	Turnover       int64          `json:"turnover"`        // of a year
	Bookings       int64          `json:"bookings"`        // expected in a month
	AverageBooking int64          `json:"average_booking"` //
	// Lead are the percent of the turnover by the time between payment and return; see LeadTimes.
	Lead           [5]int64 `json:"lead"`
	ChargebackRate int64    `json:"chargeback_rate"` // of the last year, in parts per million of the payments
}

// Licences are the kinds of licence or financial security that a merchant can have.
var Licences = []string{"none", "licence", "bond", "trust_account", "insurance"}

// LeadTimes are the spans of Facts.Lead, in words.
var LeadTimes = [5]string{"up to 30 days", "31 to 90 days", "91 to 180 days", "181 to 365 days", "more than a year"}

// bounds of numbers
const (
	maxBookings = 100_000_000
	million     = 1_000_000
)

// check checks the given facts. With whole, all required facts must be present.
func (f *Facts) check(whole bool) error {
	var p errs.Problems
	for _, of := range []struct {
		name   string
		value  *string
		needed bool
	}{
		{"company", &f.Company, true}, {"registration_number", &f.RegistrationNo, true}, {"website", &f.Website, true},
		{"contact_name", &f.Contact, true}, {"contact_mail", &f.ContactMail, true}, {"contact_phone", &f.ContactPhone, false},
		{"licence", &f.Licence, true}, {"licence_number", &f.LicenceNumber, f.licensed()}, {"licence_body", &f.LicenceBody, f.licensed()},
	} {
		*of.value = strings.TrimSpace(*of.value)
		check.Line(&p, of.name, *of.value)
		if whole && of.needed && *of.value == "" {
			p.Missing(of.name)
		}
	}
	for name, value := range map[string]*string{"sells": &f.Sells, "supplier_cover": &f.SupplierCover} {
		*value = strings.TrimSpace(*value)
		check.Note(&p, name, *value)
		if whole && *value == "" {
			p.Missing(name)
		}
	}
	f.checkForms(&p)
	f.checkNumbers(&p, whole)
	return noCard(p.Err(), f.Company, f.RegistrationNo, f.Website, f.Sells, f.Contact, f.ContactMail, f.ContactPhone, f.LicenceNumber,
		f.LicenceBody, f.SupplierCover)
}

// licensed reports whether the merchant has a licence or security whose number and body are required.
func (f *Facts) licensed() bool { return f.Licence != "" && f.Licence != Licences[0] }

func (f *Facts) checkForms(p *errs.Problems) {
	if u, err := url.Parse(f.Website); f.Website != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
		p.Wrong("website", "Must be an http or https URL.")
	}
	if _, err := mail.ParseAddress(f.ContactMail); f.ContactMail != "" && (err != nil || strings.ContainsAny(f.ContactMail, "<> ")) {
		p.Wrong("contact_mail", "Must be a valid e-mail address.")
	}
	known := f.Licence == ""
	for _, l := range Licences {
		known = known || l == f.Licence
	}
	if !known {
		p.Wrong("licence", "Must be one of: %s.", strings.Join(Licences, ", "))
	}
}

func (f *Facts) checkNumbers(p *errs.Problems, whole bool) {
	for _, of := range []struct {
		name       string
		value, max int64
		needed     bool
	}{
		{"turnover", f.Turnover, check.MaxAmount, true}, {"average_booking", f.AverageBooking, check.MaxAmount, true},
		{"licence_amount", f.LicenceAmount, check.MaxAmount, f.Licence == "bond"}, {"bookings", f.Bookings, maxBookings, true},
		{"chargeback_rate", f.ChargebackRate, million, false},
	} {
		switch {
		case of.value < 0 || of.value > of.max:
			p.Wrong(of.name, "This number is too large or negative.")
		case whole && of.needed && of.value == 0:
			p.Missing(of.name)
		}
	}
	if f.Currency == "" {
		if f.Turnover != 0 || f.AverageBooking != 0 || f.LicenceAmount != 0 || whole {
			p.Missing("currencies")
		}
	} else if _, err := money.ParseCurrency(string(f.Currency)); err != nil {
		p.Wrong("currencies", "Must be a currency such as EUR or GBP.")
	}
	sum := int64(0)
	for _, percent := range f.Lead {
		if percent < 0 || percent > 100 {
			p.Wrong("lead", "Each share must be from 0 to 100 percent.")
			return
		}
		sum += percent
	}
	switch {
	case sum == 0 && whole:
		p.Missing("lead")
	case sum != 0 && sum != 100:
		p.Wrong("lead", "The shares add up to %d percent, not to 100.", sum)
	}
}

// noCard refuses texts that hold a card number, which is never stored (wire.md).
func noCard(err error, texts ...string) error {
	for _, text := range texts {
		if card.HoldsCardNumber(text) {
			return errs.New(errs.CardNumber, "A text contains a card number. Nothing was stored.")
		}
	}
	return err
}
