package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"holdfast/internal/api/view"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/proposal"
)

// proposalShowCmd shows one proposal.
type proposalShowCmd struct {
	siteFlag
	formFlags
	ID int64 `arg:"" help:"Proposal id."`
}

// Run prints the proposal and its effect.
func (c proposalShowCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	q, err := p.app.Approvals.Get(ctx, actor, c.ID)
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		return p.printJSON(view.ShowProposal(q))
	case c.CSV:
		return p.printCSV(effectSheet(q), civil.FormatInstant(p.now(actor)))
	}
	fields := [][2]string{
		{"proposal", fmt.Sprintf("%d, %s, %s", q.ID, q.Kind, q.State)}, {"subject", q.Subject},
		{"proposed", fmt.Sprintf("by %s, %s GMT", q.ProposedBy, civil.FormatInstant(q.ProposedAt))}, {"reason", q.Reason},
	}
	if !q.DecidedAt.IsZero() {
		fields = append(fields, [2]string{"decided", fmt.Sprintf("by %s, %s GMT", q.DecidedBy, civil.FormatInstant(q.DecidedAt))},
			[2]string{"their reason", q.DecisionReason})
	}
	p.printFields(fields)
	p.tellEffect(q)
	return nil
}

// effectOf reads the effect of a proposal. known is false if it was not recorded.
func effectOf(q proposal.Proposal) (effect proposal.Effect, known bool) {
	if q.Effect == "" {
		return effect, false
	}
	return effect, json.Unmarshal([]byte(q.Effect), &effect) == nil
}

// tellEffect prints what a proposal would change or has changed.
func (p *program) tellEffect(q proposal.Proposal) {
	effect, known := effectOf(q)
	if !known {
		p.printf("\nThe effect of this proposal was not recorded.\n")
		return
	}
	if effect.Problem != "" {
		p.printf("\nIt can no longer be applied: %s\n", oneLine(effect.Problem))
	}
	verb := map[proposal.State]string{
		proposal.Open: "Would change", proposal.Approved: "Changed",
	}[q.State]
	if verb == "" {
		verb = "Would have changed"
	}
	if len(effect.Changes) > 0 {
		p.printf("\n%s:\n\n", verb)
		s := sheet{columns: columnsOf("field before after")}
		for _, c := range effect.Changes {
			s.rows = append(s.rows, []cell{words(c.Field), words(effect.Text(c, true)), words(effect.Text(c, false))})
		}
		p.printTable(s, indent)
	}
	if len(effect.Figures) > 0 {
		s := sheet{columns: columnsOf("figure value currency")}
		for _, f := range effect.Figures {
			s.rows = append(s.rows, figureRow(f))
		}
		p.printf("\n")
		p.printTable(s, indent)
	}
	if effect.File != nil {
		p.tellFile(*effect.File)
	}
}

func figureRow(f proposal.Figure) []cell {
	value := cell{}
	switch {
	case f.Count != nil:
		value = count(*f.Count)
	case f.Amount != nil:
		value = amount(*f.Amount, f.Currency)
	}
	return []cell{words(strings.ReplaceAll(f.Name, "_", " ")), value, words(string(f.Currency))}
}

// tellFile prints what importing a file would create.
func (p *program) tellFile(f proposal.FileEffect) {
	p.printf("\nDry run of the file: %d rows, %d rejected.\n\n", f.Rows, f.Refused)
	p.printTable(sheet{columns: []column{{name: "what", title: " "}, {name: "new"}, {name: "existing"}}, rows: [][]cell{
		{words("bookings"), count(int64(f.BookingsCreated)), count(int64(f.BookingsThere))},
		{words("payments"), count(int64(f.PaymentsCreated)), count(int64(f.PaymentsThere))},
	}}, indent)
	if len(f.Channels) > 0 {
		p.printf("\n")
		p.printTable(shareSheet(f.Channels), indent)
	}
}

func shareSheet(list []proposal.FileShares) sheet {
	s := sheet{columns: columnsOf("channel is_new mode currency payments added taken first_paid last_paid")}
	for _, c := range list {
		s.rows = append(s.rows, []cell{
			words(c.Channel), yesNo(c.Created), words(string(c.Mode)), words(string(c.Currency)), count(int64(c.Payments)),
			amount(c.Added, c.Currency), amount(c.Taken, c.Currency), words(c.FirstPaid), words(c.LastPaid),
		})
	}
	return s
}

// effectSheet is the effect as CSV: a row for each change, figure and file total.
func effectSheet(q proposal.Proposal) sheet {
	s := sheet{columns: columnsOf("id kind state part name channel before after currency")}
	effect, _ := effectOf(q)
	add := func(part, name, channel string, before, after cell, c money.Currency) {
		s.rows = append(s.rows, []cell{
			ident(q.ID), words(string(q.Kind)), words(string(q.State)), words(part), words(name), words(channel), before, after,
			words(string(c)),
		})
	}
	for _, c := range effect.Changes {
		add("change", c.Field, "", words(effect.Text(c, true)), words(effect.Text(c, false)), "")
	}
	for _, f := range effect.Figures {
		add("figure", f.Name, "", cell{}, figureRow(f)[1], f.Currency)
	}
	if f := effect.File; f != nil {
		for _, n := range []struct {
			name string
			n    int
		}{
			{"rows", f.Rows}, {"refused", f.Refused}, {"bookings_created", f.BookingsCreated}, {"bookings_already_there", f.BookingsThere},
			{"payments_created", f.PaymentsCreated}, {"payments_already_there", f.PaymentsThere},
		} {
			add("file", n.name, "", cell{}, count(int64(n.n)), "")
		}
		for _, c := range f.Channels {
			add("file", "payments", c.Channel, cell{}, count(int64(c.Payments)), "")
			add("file", "added", c.Channel, cell{}, amount(c.Added, c.Currency), c.Currency)
			add("file", "taken", c.Channel, cell{}, amount(c.Taken, c.Currency), c.Currency)
		}
	}
	return s
}

// effectLine summarises the effect of a proposal in one line.
func effectLine(q proposal.Proposal) string {
	effect, _ := effectOf(q)
	if effect.Problem != "" {
		return "can no longer be applied"
	}
	if f := effect.File; f != nil {
		text := fmt.Sprintf("%d bookings and %d payments", f.BookingsCreated, f.PaymentsCreated)
		for i, c := range f.Channels {
			if i == mentioned {
				return text + ", …"
			}
			text += fmt.Sprintf(", %s %s %s", c.Channel, c.Currency, money.Format(c.Added-c.Taken, c.Currency))
		}
		return text
	}
	var parts []string
	for i, c := range effect.Changes {
		if i == mentioned {
			parts = append(parts, "…")
			break
		}
		before, after := effect.Text(c, true), effect.Text(c, false)
		if before == "" {
			before = "none"
		}
		parts = append(parts, fmt.Sprintf("%s: %s → %s", c.Field, shortened(before), shortened(after)))
	}
	return strings.Join(parts, ", ")
}

// mentioned is the maximum number of changes, or of a file's merchants, in one line.
const mentioned = 3

// shortened truncates a long text, such as a rate card.
func shortened(text string) string {
	const most = 30
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most]) + "…"
	}
	return text
}
