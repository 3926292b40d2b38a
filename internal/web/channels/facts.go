package channels

import (
	"strconv"
	"strings"

	"holdfast/internal/book/underwriting"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/web/kit"
)

// leadField is the field name for a lead time's share.
func leadField(i int) string { return "lead_" + strconv.Itoa(i) }

// readFacts reads the underwriting details from the form.
func readFacts(r *kit.Reading) underwriting.Facts {
	f := underwriting.Facts{
		Company: r.Get("company"), RegistrationNo: r.Get("registration_number"), Website: r.Get("website"), Sells: r.Get("sells"),
		Contact: r.Get("contact_name"), ContactMail: r.Get("contact_mail"), ContactPhone: r.Get("contact_phone"),
		Licence: r.Get("licence"), LicenceNumber: r.Get("licence_number"), LicenceBody: r.Get("licence_body"),
		SupplierCover: r.Get("supplier_cover"),
	}
	c := money.EUR // without a currency, amounts are only validated
	if given := r.Currency("currencies"); given != nil {
		c, f.Currency = *given, *given
	}
	zero := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	f.Turnover, f.AverageBooking = zero(r.Amount("turnover", c)), zero(r.Amount("average_booking", c))
	f.LicenceAmount, f.Bookings = zero(r.Amount("licence_amount", c)), zero(r.Number("bookings"))
	for i := range f.Lead {
		f.Lead[i] = zero(r.Number(leadField(i)))
	}
	f.ChargebackRate = readPercent(r.Get("chargeback_rate"), &r.Problems)
	return f
}

// readPercent parses a percentage such as 0.45 as parts per million; 0 for an empty field.
func readPercent(text string, p *errs.Problems) int64 {
	text = strings.TrimSpace(strings.TrimSuffix(text, "%"))
	if text == "" {
		return 0
	}
	ppm, err := money.ParsePercent(text)
	if err != nil {
		p.Wrong("chargeback_rate", "Enter a percentage with at most four decimals, such as 0.45.")
	}
	return ppm
}

// filledWithFacts returns the form with the saved details.
func filledWithFacts(r underwriting.Request) *kit.Form {
	f := r.Facts
	amount := func(n int64) string {
		if n == 0 || f.Currency == "" {
			return ""
		}
		return money.FormatPlain(n, f.Currency)
	}
	count := func(n int64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	rate := ""
	if f.ChargebackRate != 0 {
		rate = money.FormatPercent(f.ChargebackRate)
	}
	form := kit.Filled("company", f.Company, "registration_number", f.RegistrationNo, "website", f.Website, "sells", f.Sells,
		"contact_name", f.Contact, "contact_mail", f.ContactMail, "contact_phone", f.ContactPhone, "licence", f.Licence,
		"licence_number", f.LicenceNumber, "licence_body", f.LicenceBody, "licence_amount", amount(f.LicenceAmount),
		"supplier_cover", f.SupplierCover, "currencies", string(f.Currency), "turnover", amount(f.Turnover), "bookings", count(f.Bookings),
		"average_booking", amount(f.AverageBooking), "chargeback_rate", rate, "version", count(r.Version))
	for i, share := range f.Lead {
		if text := count(share); text != "" {
			form.Values.Set(leadField(i), text)
		}
	}
	return form
}

// factsOf lists the details for users who cannot edit them.
func factsOf(f underwriting.Facts) (list []kit.Fact) {
	amount := func(n int64) string {
		if n == 0 || f.Currency == "" {
			return ""
		}
		return kit.Money(n, f.Currency)
	}
	bookings := ""
	if f.Bookings != 0 {
		bookings = kit.Count(f.Bookings)
	}
	for _, fact := range []kit.Fact{
		{Text: "Company", Value: f.Company}, {Text: "Registration number", Value: f.RegistrationNo}, {Text: "Website", Value: f.Website},
		{Text: "Products and customers", Value: f.Sells}, {Text: "Contact", Value: f.Contact}, {Text: "E-mail", Value: f.ContactMail},
		{Text: "Phone", Value: f.ContactPhone}, {Text: "Licence or bond", Value: kit.Say(f.Licence)},
		{Text: "Licence number", Value: f.LicenceNumber}, {Text: "Issued by", Value: f.LicenceBody}, {Text: "Bond amount", Value: amount(f.LicenceAmount)},
		{Text: "Supplier failure", Value: f.SupplierCover}, {Text: "Annual turnover", Value: amount(f.Turnover)},
		{Text: "Bookings per month", Value: bookings}, {Text: "Average booking value", Value: amount(f.AverageBooking)},
		{Text: "Chargeback rate, last year", Value: money.FormatPercent(f.ChargebackRate) + "\u00a0%"},
	} {
		if fact.Value != "" {
			list = append(list, fact)
		}
	}
	for i, share := range f.Lead {
		if share != 0 {
			list = append(list, kit.Fact{Text: "Paid " + underwriting.LeadTimes[i] + " before the return", Value: strconv.FormatInt(share, 10) + "\u00a0%"})
		}
	}
	return list
}
