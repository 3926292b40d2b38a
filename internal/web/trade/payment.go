package trade

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/payment"
	"holdfast/internal/notify/mail"
	"holdfast/internal/report"
	"holdfast/internal/web/kit"
)

// paymentPage is the data of a payment's page.
type paymentPage struct {
	Payment     payment.Transaction
	Figures     []figure
	Facts       []kit.Fact
	Notes       []string
	Parts       *kit.Table
	Adjustments *kit.Table // nil if it cannot have any
	Disputes    *kit.Table
	Mails       *kit.Table
	Explained   explained
}

func (p *pages) payment(v *kit.Visit) error {
	t, err := p.paymentOf(v)
	if err != nil {
		return err
	}
	ctx := v.R.Context()
	report, err := p.app.Protection.Explain(ctx, v.Actor, t.ID, report.ProtectionQuery{})
	if err != nil {
		return err
	}
	adjusting, err := p.app.Payments.List(ctx, v.Actor, payments.TransactionFilter{LinkedID: t.ID}, first(true))
	if err != nil {
		return err
	}
	mails, err := p.app.Mails.List(ctx, v.Actor, mail.Filter{Transactions: []int64{t.ID}}, first(true))
	if err != nil {
		return err
	}
	names, err := p.channelNames(v, []int64{t.ChannelID})
	if err != nil {
		return err
	}
	data := paymentPage{
		Payment: t, Figures: paymentFigures(t), Facts: paymentFacts(v, t, names[t.ChannelID]), Notes: paymentNotes(t),
		Parts: partsOf(v, t), Disputes: disputesOf(v, t.Disputes), Mails: mailsOf(v, mails.Items),
	}
	if !t.Type.Linked() || t.Type.Takes() {
		data.Adjustments = paymentsOfStory(v, adjusting.Items)
		data.Adjustments.Empty = kit.Empty{Title: "No adjustments", Text: "Refunds, captures and chargebacks appear here."}
	}
	data.Explained.Summary = report.Summary
	data.Explained.Open = len(report.Allocations) == 1
	for _, x := range report.Allocations {
		data.Explained.Allocations = append(data.Explained.Allocations, explainAllocation(v, x, "Booking "+strconv.FormatInt(x.BookingID, 10)))
	}
	for i := range data.Explained.Allocations {
		data.Explained.Allocations[i].Href = bookingAt(v, report.Allocations[i].BookingID)
		if data.Explained.Open {
			data.Explained.Allocations[i].Summary = "" // the lead says it
		}
	}
	return v.Show(p.Pages, "payment.html", kit.Page{
		Title: paymentName(t), Menu: "/payments", Path: []kit.Link{{Text: "Payments", Href: v.At("/payments")}},
		Acts: p.actsOfPayment(v, t), Data: data,
	})
}

// paymentOf reads the payment in the URL.
func (p *pages) paymentOf(v *kit.Visit) (payment.Transaction, error) {
	id, err := v.ID("id")
	if err != nil {
		return payment.Transaction{}, err
	}
	return p.app.Disputes.Transaction(v.R.Context(), v.Actor, id)
}

func paymentName(t payment.Transaction) string {
	return kit.Say(string(t.Type)) + " " + strconv.FormatInt(t.ID, 10)
}

// adjustmentsOf returns the adjustments that the user can record in the payment's current status.
func (p *pages) adjustmentsOf(v *kit.Visit, t payment.Transaction) (list []payment.TransactionType) {
	open := t.Status == payment.StatusComplete && t.TotalRemaining() > 0
	switch {
	case t.Type == payment.Authorize && open && p.mayLogPayments(v):
		list = append(list, payment.Capture, payment.Void)
	case t.Type.Takes() && open && p.mayLogPayments(v):
		list = append(list, payment.Refund)
	}
	if t.Type.Takes() && v.Can(access.RecordChargebacks) {
		if t.Status == payment.StatusComplete || t.Status == payment.StatusLocked {
			if t.Left() > 0 {
				list = append(list, payment.Chargeback, payment.Prevented)
			}
			if t.ChargedBack > 0 {
				list = append(list, payment.ChargebackReversal)
			}
		}
	}
	return list
}

func (p *pages) actsOfPayment(v *kit.Visit, t payment.Transaction) (acts []kit.Link) {
	for i, kind := range p.adjustmentsOf(v, t) {
		acts = append(acts, kit.Link{Text: adjustmentText(kind), Href: paymentAt(v, t.ID) + "/" + string(kind), Plain: i > 0})
	}
	return acts
}

func adjustmentText(kind payment.TransactionType) string {
	return map[payment.TransactionType]string{
		payment.Capture: "Log a capture", payment.Void: "Log a void", payment.Refund: "Log a refund", payment.Chargeback: "Record a chargeback",
		payment.ChargebackReversal: "Record a reversal", payment.Prevented: "Record a prevented dispute",
	}[kind]
}

func paymentFigures(t payment.Transaction) []figure {
	list := []figure{{Text: "Amount", Value: kit.Money(t.Total, t.Currency)}}
	if t.BaseCurrency != t.Currency && t.BaseCurrency != "" {
		list = append(list, figure{Text: "In the merchant's currency", Value: kit.Money(t.BaseTotal, t.BaseCurrency)})
	}
	if text := left(t).Text; text != "" {
		list = append(list, figure{Text: "Remaining", Value: text})
	}
	if t.ChargedBack > 0 {
		list = append(list, figure{Text: "Charged back", Value: kit.Money(t.ChargedBack, t.Currency)})
	}
	return list
}

func paymentFacts(v *kit.Visit, t payment.Transaction, channel string) []kit.Fact {
	status := paymentState(t.Status)
	card := strings.TrimSpace(kit.Say(t.CardType) + " " + t.LastFour)
	list := []kit.Fact{
		{Text: "Status", Value: status.Text, Tone: status.Tone},
		{Text: "Merchant", Value: channel, Href: v.At("/channels/" + strconv.FormatInt(t.ChannelID, 10))},
		{Text: "Taken", Value: kit.Instant(t.EffectiveAt)}, {Text: "Logged", Value: kit.Instant(t.CreatedAt)}, {Text: "Logged by", Value: t.Author},
		{Text: "Reference", Value: t.Reference}, {Text: "Processor", Value: t.PSP}, {Text: "Method", Value: kit.Say(t.Method)},
		{Text: "Card", Value: card}, {Text: "BIN", Value: t.BIN}, {Text: "Authorisation code", Value: t.AuthCode},
		{Text: "Acquirer's reference", Value: t.AcquirerReference}, {Text: "Processor's reference", Value: t.ProcessorReference},
		{Text: "Payer", Value: strings.TrimSpace(t.PayeeName + " " + t.PayeeSurname)},
		{Text: "Payer's e-mail", Value: t.PayeeEmail}, {Text: "Country", Value: t.Country}, {Text: "IP address", Value: t.IPAddress},
		{Text: "Exchange rate", Value: t.ForexRate}, {Text: "Statements", Value: t.StatementBatches}, {Text: "Outcome", Value: t.Content},
	}
	if t.LinkedID != 0 {
		list = append(list, kit.Fact{Text: "Adjusts", Value: "Payment " + strconv.FormatInt(t.LinkedID, 10), Href: paymentAt(v, t.LinkedID)})
	}
	if g := t.GatewayCharge; g != nil {
		list = append(list, kit.Fact{Text: "Decline reason", Value: kit.Say(g.Decline)})
	}
	return slices.DeleteFunc(list, func(f kit.Fact) bool { return f.Value == "" })
}

// paymentNotes are the warnings about a payment.
func paymentNotes(t payment.Transaction) (list []string) {
	for _, flag := range t.AllFlags() {
		text := map[string]string{
			payment.FlagLateLogged:     "This payment was logged late. Cover begins when it was logged.",
			payment.FlagForexDeviates:  "The exchange rate sent with this payment differs by more than 10% from the rate on file.",
			payment.FlagDoubleRecovery: "Money was returned twice, for example by a refund and a chargeback.",
			payment.FlagAmountDiffers:  "The processor moved a different amount than requested.",
			payment.FlagRateDisagrees:  "The two amounts sent disagree with the rate of the payment. It was settled at that rate.",
			payment.FlagAboveTotal:     "When this payment was logged, more had been paid than the booking costs.",
			payment.FlagLateCapture:    "This payment was captured after its authorisation had expired.",
			payment.FlagInsolvent:      "The merchant was insolvent when this was logged.",
			payment.FlagAfterDispute:   "Another payment of this booking was charged back before this one.",
		}[flag]
		list = append(list, cmp.Or(text, kit.Say(flag)))
	}
	if t.OverLimit > 0 {
		list = append(list, "This payment is "+kit.Money(t.OverLimit, t.OverLimitCurrency)+" over a limit.")
	}
	if t.Status == payment.StatusIncomplete {
		list = append(list, "The outcome is not known yet. The processor is checked again automatically.")
	}
	if t.Simulated {
		list = append(list, "Test payment: no real money.")
	}
	return list
}

// partsOf returns a payment's share of each booking.
func partsOf(v *kit.Visit, t payment.Transaction) *kit.Table {
	made := kit.Table{Bare: true, Name: "parts", Caption: "Bookings paid by this payment", Columns: []kit.Column{
		{Name: "booking", Title: "Booking"}, {Name: "record", Title: "Entry"}, {Name: "country", Title: "Country"},
		{Name: "total", Title: "Allocated", Figure: true}, {Name: "left", Title: "Remaining", Figure: true},
	}}
	for _, part := range t.Payments {
		name := cmp.Or(part.BookingReference, strconv.FormatInt(part.BookingID, 10))
		remains := kit.Cell{}
		if !t.Type.Linked() || t.Type.Takes() {
			remains = kit.Sum(part.Left(), part.Currency)
		}
		made.Rows = append(made.Rows, kit.Row{Href: bookingAt(v, part.BookingID), Cells: []kit.Cell{
			kit.Words(name), kit.Ident(part.ID), kit.Words(part.BookingCountry), kit.Sum(part.Total, part.Currency), remains,
		}})
	}
	return v.Table(made)
}

func disputesOf(v *kit.Visit, list []payment.Dispute) *kit.Table {
	t := kit.Table{Bare: true, Name: "disputes", Caption: "Disputes", Columns: []kit.Column{
		{Name: "chargeback", Title: "Chargeback"}, {Name: "outcome", Title: "Outcome"}, {Name: "reason", Title: "Reason code"},
		{Name: "until", Title: "Respond by"}, {Name: "total", Title: "Amount", Figure: true},
	}}
	for _, d := range list {
		tone := map[payment.DisputeOutcome]string{payment.DisputeWon: "good", payment.DisputeLost: "bad"}[d.Outcome]
		until := kit.Cell{}
		if d.ChallengeDay != civil.NoDay {
			until = kit.OnDay(d.ChallengeDay)
		}
		href := paymentAt(v, d.ChargebackID)
		if v.Can(access.ReadDisputes) {
			href = v.At("/disputes/" + kit.Ident(d.DisputeID).Plain)
		}
		t.Rows = append(t.Rows, kit.Row{Href: href, Cells: []kit.Cell{
			kit.Ident(d.ChargebackID), kit.State(string(d.Outcome), cmp.Or(tone, "warn")), kit.Words(d.ReasonCode), until,
			kit.Sum(d.Total, d.Currency),
		}})
	}
	return v.Table(t)
}
