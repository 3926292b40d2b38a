package disputes

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/book/claims"
	"holdfast/internal/book/disputes"
	document "holdfast/internal/book/paper"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/lib/pdf"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/kit"
)

// disputeView is the data of the page of a dispute.
type disputeView struct {
	Next, Tone string // the next step, and its tone
	Facts      []kit.Fact
	Compared   *comparison // nil if the dispute is matched
	Movements  []movement
	Evidence   []paper
	OnRecord   string // the grounds for which there is evidence on record; "" if there is no paper
	Paper      string // URL of the paper
	Attach     string // URL to attach a file; "" without permission
	File       *kit.Form
	History    []happened
}

// comparison puts a dispute next to the payments that it may be about.
type comparison struct {
	Payments []candidate
	Rows     []compared
}

// candidate is the head of a column.
type candidate struct {
	Name, Href, Match string
	Score             int
}

// compared is a clue: as it was reported, and of each payment.
type compared struct {
	Name, Reported string
	Values         []value
}

// empty reports whether neither the dispute nor a payment has the clue.
func (c compared) empty() bool {
	return c.Reported == "" && !slices.ContainsFunc(c.Values, func(v value) bool { return v.Text != "" })
}

// value is a value of a payment, with its points. Agrees: it is the reported one.
type value struct {
	Text   string
	Points int
	Agrees bool
}

// movement is money of a dispute.
type movement struct {
	Day, What, Amount, Base, Href string
}

// paper is a file of evidence.
type paper struct {
	Name, Href, Note, By string
	At                   time.Time
}

// happened is a line of the history.
type happened struct {
	At         time.Time
	What, Text string
	Raw        string
}

// dispute shows one dispute.
func (p *pages) dispute(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	return p.show(v, id, &kit.Form{})
}

func (p *pages) show(v *kit.Visit, id int64, file *kit.Form) error {
	c, err := p.app.Disputes.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	view := disputeView{Movements: movementsOf(v, c), History: historyOf(c), File: file}
	view.Next, view.Tone = nextOf(v, c)
	if view.Facts, err = p.facts(v, c); err != nil {
		return err
	}
	if c.TransactionID == 0 {
		if view.Compared, err = p.compare(v, c); err != nil {
			return err
		}
	}
	list, err := p.app.Disputes.EvidenceOf(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	for _, e := range list {
		view.Evidence = append(view.Evidence, paper{e.Name, at(v, id, "/evidence/"+kit.Ident(e.ID).Plain), e.Note, e.Author, e.AddedAt})
	}
	if err := p.onRecord(v, &view, c); err != nil {
		return err
	}
	if v.Can(access.WorkDisputes) && len(list) < disputes.MaxEvidence {
		view.Attach = at(v, id, "/evidence")
	}
	return v.Show(p.Pages, "dispute.html", kit.Page{
		Title: "Dispute " + c.CaseID, Menu: menu, Path: above(v), Acts: actsOf(v, c), Data: view, Wide: true,
	})
}

// groundWords are the grounds for which there can be evidence on record.
var groundWords = map[claims.Ground]string{
	claims.GroundRefunded: "the payment was refunded", claims.GroundProvided: "the service was provided, at least partly",
	claims.GroundLate: "the dispute came after the last day of dispute", claims.GroundDuplicate: "the traveller may have been paid by others or disputed twice",
}

// onRecord adds the evidence on record, unless the payment is not known or the dispute is payable in full.
func (p *pages) onRecord(v *kit.Visit, view *disputeView, c disputes.Case) error {
	found, err := p.app.Claims.Represented(v.R.Context(), v.Actor, c.ID)
	if errs.Is(err, errs.ActionNotPossible) {
		return nil
	}
	if err != nil {
		return err
	}
	var words []string
	for _, g := range found.Grounds() {
		words = append(words, groundWords[g])
	}
	view.OnRecord, view.Paper = "There is no evidence against this dispute on record.", at(v, c.ID, "/representment.pdf")
	if len(words) > 0 {
		view.OnRecord = "On record: " + strings.Join(words, "; ") + "."
	}
	return nil
}

// representment sends the paper of a dispute.
func (p *pages) representment(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	found, err := p.app.Claims.Represented(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := document.WriteRepresentmentPDF(&out, pdf.Fonts{Dir: p.frame.FontDir}, found); err != nil {
		return err
	}
	return v.Attach(fmt.Sprintf("representment-%d.pdf", id), "application/pdf", out.Bytes())
}

// nextOf is the next step as a sentence, and its tone.
func nextOf(v *kit.Visit, c disputes.Case) (text, tone string) {
	today := civil.DayOf(v.Now())
	switch {
	case c.Status == dispute.Open && c.DueOn != civil.NoDay && c.DueOn < today:
		return "The last day to answer was " + kit.Day(c.DueOn) + ".", "wrong"
	case c.Status == dispute.Open && c.DueOn != civil.NoDay:
		tone := ""
		if c.DueOn <= today+3 {
			tone = "warned"
		}
		return "Answer by " + kit.Day(c.DueOn) + ": send evidence to the processor, or accept the dispute.", tone
	case c.Matching == dispute.Queued:
		return "Several payments fit. Choose the one that this dispute is about; until then nothing is charged back in the ledger.", "warned"
	case c.Matching == dispute.Unmatched:
		return "No payment fits yet. Each new payment, and each correction of one, is tried.", "warned"
	case c.Waiting > 0:
		return "A movement waits for an exchange rate.", "warned"
	}
	return "", ""
}

func (p *pages) facts(v *kit.Visit, c disputes.Case) ([]kit.Fact, error) {
	facts := []kit.Fact{
		{Text: "Status", Value: kit.Say(c.Status), Tone: tones[c.Status]}, {Text: "Stage", Value: kit.Say(c.Stage)},
		{Text: "Processor", Value: dispute.SourceText(c.Source)},
	}
	add := func(text, value, href string) {
		if value != "" {
			facts = append(facts, kit.Fact{Text: text, Value: value, Href: href})
		}
	}
	sum := func(amount int64, currency money.Currency) string {
		if currency == "" {
			return ""
		}
		return kit.Money(amount, currency)
	}
	add("Amount", sum(c.Amount, c.Currency), "")
	if c.DueOn != civil.NoDay {
		add("Answer by", kit.Day(c.DueOn), "")
	}
	add("Reason", strings.TrimSpace(c.ReasonCode+" "+c.Reason), "")
	if c.ChannelID != 0 {
		found, err := choices.ChannelsOf(v, p.app, []disputes.Case{c}, channelOf)
		if err != nil {
			return nil, err
		}
		add("Merchant", found[c.ChannelID].Name, v.At("/channels/"+kit.Ident(c.ChannelID).Plain))
	} else {
		add("Merchant", c.Merchant, "")
	}
	if c.TransactionID != 0 {
		add("Payment", kit.Ident(c.TransactionID).Text, v.At("/payments/"+kit.Ident(c.TransactionID).Plain))
		how := "by " + strings.ReplaceAll(string(c.Rule), "_", " ")
		if c.Score > 0 {
			how += ", " + strconv.Itoa(c.Score) + " points"
		}
		add("Matched", how, "")
	}
	add("Charged back", sum(c.Debits, c.BaseCurrency), "")
	if c.Credits > 0 {
		add("Given back", sum(c.Credits, c.BaseCurrency), "")
	}
	add("Assigned to", c.Assignee, "")
	return facts, nil
}

// compare puts the clues of a dispute next to its candidates.
func (p *pages) compare(v *kit.Visit, c disputes.Case) (*comparison, error) {
	list, err := p.app.Disputes.Candidates(v.R.Context(), v.Actor, c.ID)
	if err != nil {
		return nil, err
	}
	list = list[:min(len(list), 5)]
	channels, err := choices.ChannelsOf(v, p.app, list, func(one disputes.Candidate) int64 { return one.ChannelID })
	if err != nil {
		return nil, err
	}
	k := c.Clues
	reported := func(amount int64, currency money.Currency) string {
		if currency == "" {
			return ""
		}
		return kit.Money(amount, currency)
	}
	made := &comparison{Rows: []compared{
		{Name: "Auth code", Reported: k.AuthCode}, {Name: "Last four digits", Reported: k.LastFour}, {Name: "BIN", Reported: k.BIN},
		{Name: "Amount", Reported: cmp.Or(reported(k.PaidAmount, k.PaidCurrency), reported(c.Amount, c.Currency))}, {Name: "Paid on", Reported: dayOf(k.PaidOn)},
		{Name: "Acquirer reference", Reported: k.AcquirerReference}, {Name: "Processor reference", Reported: cmp.Or(k.ProcessorReference, k.ProcessorAlias)},
		{Name: "Payment reference", Reported: k.PaymentReference}, {Name: "Merchant", Reported: c.Merchant},
	}}
	for _, one := range list {
		t, id := one.Payment, kit.Ident(one.TransactionID)
		head := candidate{Name: "Payment " + id.Text, Href: v.At("/payments/" + id.Plain), Score: one.Points.Sum()}
		if v.Can(access.WorkDisputes) {
			head.Match = at(v, c.ID, "/match/"+id.Plain)
		}
		made.Payments = append(made.Payments, head)
		points := one.Points
		for i, of := range []value{
			{t.AuthCode, points.AuthCode, points.AuthCode > 0}, {t.LastFour, points.LastFour, points.LastFour > 0}, {t.BIN, points.BIN, points.BIN > 0},
			{kit.Money(t.Total, t.Currency), points.Amount, points.Amount > 0}, {dayOf(one.PaidOn), points.Day, points.Day > 0},
			{t.AcquirerReference, 0, t.AcquirerReference != "" && t.AcquirerReference == k.AcquirerReference},
			{t.ProcessorReference, 0, t.ProcessorReference != "" && (t.ProcessorReference == k.ProcessorReference || t.ProcessorReference == k.ProcessorAlias)},
			{t.Reference, 0, t.Reference != "" && t.Reference == k.PaymentReference}, {channels[one.ChannelID].Name, 0, channels[one.ChannelID].Name == c.Merchant},
		} {
			made.Rows[i].Values = append(made.Rows[i].Values, of)
		}
	}
	made.Rows = slices.DeleteFunc(made.Rows, compared.empty)
	return made, nil
}

func dayOf(d civil.Day) string {
	if d == civil.NoDay {
		return ""
	}
	return kit.Day(d)
}

// movementsOf are the debits, credits and fees of a dispute, as reported and as recorded in the ledger.
func movementsOf(v *kit.Visit, c disputes.Case) (list []movement) {
	for _, e := range c.Events {
		if e.SameAs != 0 || !e.Kind.Moves() && e.Kind != dispute.Fee {
			continue
		}
		m := movement{Day: kit.Day(e.On()), What: kit.Say(e.Kind)}
		if e.Currency != "" {
			m.Amount = kit.Money(e.Amount, e.Currency)
		}
		for _, posting := range c.InForce() {
			if posting.EventID == e.ID {
				m.Base, m.Href = kit.Money(posting.Base, c.BaseCurrency), v.At("/payments/"+kit.Ident(posting.MovementID).Plain)
			}
		}
		list = append(list, m)
	}
	return list
}

// kindWords are the names of the entries in the history.
var kindWords = map[dispute.Kind]string{
	dispute.NoMoney: "State", dispute.NoteKind: "Note", dispute.MatchKind: "Matched", dispute.UnmatchKind: "Match undone", dispute.AssignKind: "Assigned",
	dispute.AlertKind: "Deadline announced", dispute.ClueKind: "More about the payment",
}

func historyOf(c disputes.Case) (lines []happened) {
	for _, e := range c.Events {
		what := cmp.Or(kindWords[e.Kind], kit.Say(e.Kind))
		var parts []string
		for _, part := range []string{string(e.Stage), string(e.Status)} {
			if part != "" {
				parts = append(parts, kit.Say(part))
			}
		}
		if e.Currency != "" && e.Kind != dispute.NoMoney {
			parts = append(parts, kit.Money(e.Amount, e.Currency))
		}
		if e.ObjectID != 0 {
			parts = append(parts, "payment "+kit.Ident(e.ObjectID).Text)
		}
		if e.Kind == dispute.AssignKind && e.Note == "" {
			parts = append(parts, "unassigned")
		}
		parts = append(parts, e.Note)
		if e.Author != "" {
			parts = append(parts, "by "+e.Author)
		}
		text := strings.Join(strings.FieldsFunc(strings.Join(parts, "\x00"), func(r rune) bool { return r == 0 }), ", ")
		lines = append(lines, happened{e.ReceivedAt, what, text, e.Raw})
	}
	return lines
}
