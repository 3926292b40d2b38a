package trade

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/mail"
	"holdfast/internal/reports"
	"holdfast/internal/travel"
	"holdfast/internal/web/shell"
)

// paymentPage is what the page of a payment shows.
type paymentPage struct {
	Payment     travel.Transaction
	Figures     []figure
	Facts       []shell.Fact
	Notes       []string
	Parts       *shell.Table
	Adjustments *shell.Table // nil where it can have none
	Disputes    *shell.Table
	Mails       *shell.Table
	Explained   explained
}

func (p *pages) payment(v *shell.Visit) error {
	t, err := p.paymentOf(v)
	if err != nil {
		return err
	}
	ctx := v.R.Context()
	report, err := p.app.Protection.Explain(ctx, v.Actor, t.ID, reports.ProtectionQuery{})
	if err != nil {
		return err
	}
	adjusting, err := p.app.Payments.List(ctx, v.Actor, travel.TransactionFilter{LinkedID: t.ID}, first(true))
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
		data.Adjustments.Empty = shell.Empty{Title: "No adjustments", Text: "Refunds, captures and chargebacks appear here."}
	}
	data.Explained.Open = len(report.Allocations) == 1
	for _, x := range report.Allocations {
		data.Explained.Allocations = append(data.Explained.Allocations, explainAllocation(v, x, "Booking "+strconv.FormatInt(x.BookingID, 10)))
	}
	for i := range data.Explained.Allocations {
		data.Explained.Allocations[i].Href = bookingAt(v, report.Allocations[i].BookingID)
	}
	return v.Show(p.Pages, "payment.html", shell.Page{
		Title: paymentName(t), Menu: "/payments", Path: []shell.Link{{Text: "Payments", Href: v.At("/payments")}},
		Acts: p.actsOfPayment(v, t), Data: data,
	})
}

// paymentOf reads the payment in the address.
func (p *pages) paymentOf(v *shell.Visit) (travel.Transaction, error) {
	id, err := v.ID("id")
	if err != nil {
		return travel.Transaction{}, err
	}
	return p.app.Payments.Get(v.R.Context(), v.Actor, id)
}

func paymentName(t travel.Transaction) string {
	return shell.Say(string(t.Type)) + " " + strconv.FormatInt(t.ID, 10)
}

// adjustmentsOf are what the user can record about a payment as it is now.
func (p *pages) adjustmentsOf(v *shell.Visit, t travel.Transaction) (list []travel.TransactionType) {
	open := t.Status == travel.StatusComplete && t.TotalRemaining() > 0
	switch {
	case t.Type == travel.Authorize && open && p.mayLogPayments(v):
		list = append(list, travel.Capture, travel.Void)
	case t.Type.Takes() && open && p.mayLogPayments(v):
		list = append(list, travel.Refund)
	}
	if t.Type.Takes() && v.Can(auth.RecordChargebacks) {
		if t.Status == travel.StatusComplete || t.Status == travel.StatusLocked {
			if t.Left() > 0 {
				list = append(list, travel.Chargeback)
			}
			if t.ChargedBack > 0 {
				list = append(list, travel.ChargebackReversal)
			}
		}
	}
	return list
}

func (p *pages) actsOfPayment(v *shell.Visit, t travel.Transaction) (acts []shell.Link) {
	for i, kind := range p.adjustmentsOf(v, t) {
		acts = append(acts, shell.Link{Text: adjustmentText(kind), Href: paymentAt(v, t.ID) + "/" + string(kind), Plain: i > 0})
	}
	return acts
}

func adjustmentText(kind travel.TransactionType) string {
	return map[travel.TransactionType]string{
		travel.Capture: "Log a capture", travel.Void: "Log a void", travel.Refund: "Log a refund", travel.Chargeback: "Record a chargeback",
		travel.ChargebackReversal: "Record a reversal",
	}[kind]
}

func paymentFigures(t travel.Transaction) []figure {
	list := []figure{{Text: "Amount", Value: shell.Money(t.Total, t.Currency)}}
	if t.BaseCurrency != t.Currency && t.BaseCurrency != "" {
		list = append(list, figure{Text: "In the channel's currency", Value: shell.Money(t.BaseTotal, t.BaseCurrency)})
	}
	if text := left(t).Text; text != "" {
		list = append(list, figure{Text: "Left", Value: text})
	}
	if t.ChargedBack > 0 {
		list = append(list, figure{Text: "Charged back", Value: shell.Money(t.ChargedBack, t.Currency)})
	}
	return list
}

func paymentFacts(v *shell.Visit, t travel.Transaction, channel string) []shell.Fact {
	status := paymentState(t.Status)
	card := strings.TrimSpace(shell.Say(t.CardType) + " " + t.LastFour)
	list := []shell.Fact{
		{Text: "Status", Value: status.Text, Tone: status.Tone},
		{Text: "Channel", Value: channel, Href: v.At("/channels/" + strconv.FormatInt(t.ChannelID, 10))},
		{Text: "Taken", Value: shell.Instant(t.EffectiveAt)}, {Text: "Logged", Value: shell.Instant(t.CreatedAt)}, {Text: "Logged by", Value: t.Author},
		{Text: "Reference", Value: t.Reference}, {Text: "Processor", Value: t.PSP}, {Text: "Method", Value: shell.Say(t.Method)},
		{Text: "Card", Value: card}, {Text: "BIN", Value: t.BIN}, {Text: "Authorisation code", Value: t.AuthCode},
		{Text: "Acquirer's reference", Value: t.AcquirerReference}, {Text: "Payer", Value: strings.TrimSpace(t.PayeeName + " " + t.PayeeSurname)},
		{Text: "Payer's e-mail", Value: t.PayeeEmail}, {Text: "Country", Value: t.Country}, {Text: "IP address", Value: t.IPAddress},
		{Text: "Exchange rate", Value: t.ForexRate}, {Text: "Statements", Value: t.StatementBatches}, {Text: "Outcome", Value: t.Content},
	}
	if t.LinkedID != 0 {
		list = append(list, shell.Fact{Text: "Adjusts", Value: "Payment " + strconv.FormatInt(t.LinkedID, 10), Href: paymentAt(v, t.LinkedID)})
	}
	if g := t.GatewayCharge; g != nil {
		list = append(list, shell.Fact{Text: "Number at the processor", Value: g.ProcessorID}, shell.Fact{Text: "Refused because", Value: shell.Say(g.Decline)})
	}
	return slices.DeleteFunc(list, func(f shell.Fact) bool { return f.Value == "" })
}

// paymentNotes say what a reader should know.
func paymentNotes(t travel.Transaction) (list []string) {
	for _, flag := range t.Flags {
		text := map[string]string{
			travel.FlagLateLogged:     "It was logged late. Cover begins when it was logged.",
			travel.FlagForexDeviates:  "The rate of the caller is more than a tenth away from the rate of this service.",
			travel.FlagDoubleRecovery: "Money came back twice, such as by a refund and a chargeback.",
			travel.FlagAmountDiffers:  "The processor moved a different amount than requested.",
		}[flag]
		list = append(list, cmp.Or(text, shell.Say(flag)))
	}
	if t.OverLimit > 0 {
		list = append(list, "It is "+shell.Money(t.OverLimit, t.OverLimitCurrency)+" above a limit.")
	}
	if t.Status == travel.StatusIncomplete {
		list = append(list, "Nobody knows yet what became of it. The service asks the processor again by itself.")
	}
	if t.Simulated {
		list = append(list, "It is a payment of a test channel. Nothing of it is real.")
	}
	return list
}

// partsOf are the parts of a payment for each of its bookings.
func partsOf(v *shell.Visit, t travel.Transaction) *shell.Table {
	made := shell.Table{Bare: true, Name: "parts", Caption: "Bookings of this payment", Columns: []shell.Column{
		{Name: "booking", Title: "Booking"}, {Name: "record", Title: "Record"}, {Name: "country", Title: "Country"},
		{Name: "total", Title: "Its part", Figure: true}, {Name: "left", Title: "Left", Figure: true},
	}}
	for _, part := range t.Payments {
		name := cmp.Or(part.BookingReference, strconv.FormatInt(part.BookingID, 10))
		remains := shell.Cell{}
		if !t.Type.Linked() || t.Type.Takes() {
			remains = shell.Sum(part.Left(), part.Currency)
		}
		made.Rows = append(made.Rows, shell.Row{Href: bookingAt(v, part.BookingID), Cells: []shell.Cell{
			shell.Words(name), shell.Ident(part.ID), shell.Words(part.BookingCountry), shell.Sum(part.Total, part.Currency), remains,
		}})
	}
	return v.Table(made)
}

func disputesOf(v *shell.Visit, list []travel.Dispute) *shell.Table {
	t := shell.Table{Bare: true, Name: "disputes", Caption: "Disputes of this payment", Columns: []shell.Column{
		{Name: "chargeback", Title: "Chargeback"}, {Name: "outcome", Title: "Outcome"}, {Name: "reason", Title: "Reason code"},
		{Name: "until", Title: "Answer until"}, {Name: "total", Title: "Amount", Figure: true},
	}}
	for _, d := range list {
		tone := map[travel.DisputeOutcome]string{travel.DisputeWon: "good", travel.DisputeLost: "bad"}[d.Outcome]
		until := shell.Cell{}
		if d.ChallengeDay != civil.NoDay {
			until = shell.OnDay(d.ChallengeDay)
		}
		t.Rows = append(t.Rows, shell.Row{Href: paymentAt(v, d.ChargebackID), Cells: []shell.Cell{
			shell.Ident(d.ChargebackID), shell.State(string(d.Outcome), cmp.Or(tone, "warn")), shell.Words(d.ReasonCode), until,
			shell.Sum(d.Total, d.Currency),
		}})
	}
	return v.Table(t)
}
