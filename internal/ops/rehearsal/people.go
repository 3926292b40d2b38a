package rehearsal

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"holdfast/internal/book/certificates"
	"holdfast/internal/book/disputefile"
	"holdfast/internal/book/disputes"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/lib/pdf"
	"holdfast/internal/store"
)

// report is what arrives on a day: files, disputes by telephone, refunds, notes of travellers, and evidence.
func (e *event) report(ctx context.Context) error {
	for _, f := range e.book.files(e.day) {
		if err := e.importFile(ctx, f); err != nil {
			return err
		}
	}
	for _, p := range e.book.parts {
		for _, step := range []struct {
			on int
			do func(ctx context.Context, p part) error
		}{{p.manual, e.record}, {p.refund, e.refundPart}, {p.note, e.takeNote}, {p.contest, e.represent}} {
			if step.on != e.day {
				continue
			}
			if err := step.do(ctx, p); err != nil {
				return fmt.Errorf("payment %d: %w", p.TransactionID, err)
			}
		}
	}
	return nil
}

// work does the work of people on a day: match disputes, review claims and pay. The job of claims ignores records of the last ten seconds,
// so a rehearsal that continues on this day waits until they are old enough.
func (e *event) work(ctx context.Context, continues bool) error {
	if err := e.match(ctx); err != nil {
		return err
	}
	if continues {
		now, err := e.now(ctx)
		if err == nil {
			err = e.wait(ctx, now.Add(store.FinalAfter+time.Second))
		}
		if err != nil {
			return err
		}
	}
	return e.pay(ctx)
}

// importFile imports a processor's file.
func (e *event) importFile(ctx context.Context, f file) error {
	done, err := e.Disputes.ImportFile(ctx, e.actor, bytes.NewReader(f.body), disputefile.Options{}, false)
	if err != nil {
		return fmt.Errorf("file of %s: %w", f.processor, err)
	}
	counts := map[disputes.Outcome]int{}
	for _, l := range done.Lines {
		if l.Outcome == disputes.LineRefused {
			return fmt.Errorf("file of %s, line %d: %s", f.processor, l.Number, l.Message)
		}
		counts[l.Outcome]++
	}
	if counts[disputes.LineRepeated]+counts[disputes.LineIgnored] == len(done.Lines) { // of a day that is repeated
		return nil
	}
	count := func(o disputes.Outcome, word string) string {
		if counts[o] == 0 {
			return ""
		}
		return fmt.Sprintf("%d %s", counts[o], word)
	}
	return e.tell(ctx, "%s: %s", done.Format.Label, sentence(count(disputes.Outcome(dispute.Matched), "matched"),
		count(disputes.Outcome(dispute.Queued), "in the queue"), count(disputes.Outcome(dispute.Unmatched), "unmatched")))
}

// record records a dispute that the acquirer reported by telephone.
func (e *event) record(ctx context.Context, p part) error {
	day := e.book.failed + civil.Day(e.day)
	_, created, err := e.Disputes.Create(ctx, e.actor, disputes.NewReport{Report: dispute.Report{
		CaseID: e.caseOf(p), Stage: dispute.Chargeback, Status: dispute.Open, Kind: dispute.Debit,
		Day: day, DueOn: day + answerIn, Amount: p.PaymentTotal, Currency: p.PaymentCurrency, ReasonCode: reasonOf(p.Scheme),
		Clues: dispute.Clues{TransactionID: p.TransactionID, PaidOn: civil.NoDay},
	}})
	if err != nil || !created {
		return err
	}
	return e.tell(ctx, "dispute of payment %d recorded by hand", p.TransactionID)
}

// refundPart logs that the merchant has refunded a payment. One that a processor took is left alone: nothing is carried out for an
// insolvent merchant.
func (e *event) refundPart(ctx context.Context, p part) error {
	t, err := e.Disputes.Transaction(ctx, e.actor, p.TransactionID)
	if err != nil || t.GatewayCharge != nil || t.TotalRemaining() == 0 {
		return err
	}
	kind, left := payment.Refund, t.TotalRemaining()
	var items []payment.Item
	for _, of := range t.Payments {
		if of.Left() > 0 {
			items = append(items, payment.Item{BookingID: of.BookingID, Currency: of.Currency, Total: of.Left()})
		}
	}
	_, created, err := e.Disputes.CreateTransaction(ctx, e.actor, payment.NewTransaction{
		ChannelID: &t.ChannelID, Currency: &t.Currency, Total: &left, Type: &kind, Items: &items, PSP: t.PSP, LinkedID: t.ID, CardType: t.CardType,
		Reference: e.caseOf(p) + "-refund",
	})
	if err != nil || !created {
		return err
	}
	return e.tell(ctx, "payment %d refunded: %s %s", t.ID, t.Currency, money.Format(left, t.Currency))
}

// takeNote leaves a traveller's note on the certificate of a booking.
func (e *event) takeNote(ctx context.Context, p part) error {
	shown, err := e.Certificates.Of(ctx, e.actor, p.BookingID)
	if err != nil || !shown.TakesNotes() || !shown.Note.At.IsZero() {
		return err
	}
	err = e.Certificates.TakeNote(ctx, shown.Key, certificates.Note{Asked: certificates.AskedInsurer, PaidBack: p.Remaining / 2})
	if err != nil {
		return err
	}
	return e.tell(ctx, "the traveller of booking %d has also claimed from an insurer", p.BookingID)
}

// cases reads the first case about each part, by its id. A processor's cases of other parts have other ids.
func (e *event) cases(ctx context.Context, parts ...part) (map[string]disputes.Case, error) {
	found := map[string]disputes.Case{}
	if len(parts) == 0 {
		return found, nil
	}
	var f disputes.Filter
	for _, p := range parts {
		f.CaseIDs = append(f.CaseIDs, e.caseOf(p))
	}
	list, err := each(func(page store.Page) (store.List[disputes.Case], error) {
		return e.Disputes.List(ctx, e.actor, f, page)
	})
	for _, c := range list {
		found[c.CaseID] = c
	}
	return found, err
}

func (e *event) caseOf(p part) string { return caseOf(e.insolvency.ID, p.number, false) }

// represent contests a dispute with the confirmation of the booking.
func (e *event) represent(ctx context.Context, p part) error {
	known, err := e.cases(ctx, p)
	c, ok := known[e.caseOf(p)]
	if err != nil || !ok || c.Status != dispute.Open {
		return err
	}
	attached, err := e.Disputes.EvidenceOf(ctx, e.actor, c.ID)
	if err != nil {
		return err
	}
	if len(attached) == 0 {
		paper, err := e.confirmation(p)
		if err != nil {
			return err
		}
		if _, err := e.Disputes.Attach(ctx, e.actor, c.ID, "booking-confirmation.pdf", "Confirmation with the days of the journey", bytes.NewReader(paper)); err != nil {
			return err
		}
	}
	if _, err := e.Disputes.Represent(ctx, e.actor, c.ID, "The booking confirmation has the days of the journey."); err != nil {
		return err
	}
	return e.tell(ctx, "dispute %d represented with evidence", c.ID)
}

// confirmation prints the confirmation of a booking.
func (e *event) confirmation(p part) ([]byte, error) {
	lines := []string{
		fmt.Sprintf("Booking %d", p.BookingID), fmt.Sprintf("Last day of the journey: %s", p.End),
		fmt.Sprintf("Paid: %s %s", p.PaymentCurrency, money.FormatPlain(p.PaymentTotal, p.PaymentCurrency)), Evidence,
	}
	const title = "Booking confirmation"
	own := title
	for _, l := range lines {
		own += l
	}
	doc, _, err := pdf.Fonts{}.New(pdf.Texts{Own: own, Language: "enGB"})
	if err != nil {
		return nil, err
	}
	const width = 170
	doc.SetMargins(pdf.Margin, pdf.Margin, pdf.Margin)
	doc.AddPage()
	doc.Font("B", 18)
	doc.Cell(width, title, "L")
	doc.Ln(12)
	doc.Font("", 10)
	for _, l := range lines {
		doc.Cell(width, l, "L")
		doc.Ln(pdf.LineHeight)
	}
	var out bytes.Buffer
	err = doc.Output(&out)
	return out.Bytes(), err
}

// match has a person match the cases of earlier days that the rules could not match.
func (e *event) match(ctx context.Context) error {
	var parts []part
	for _, p := range e.book.parts {
		if p.filedBefore(e.day) {
			parts = append(parts, p)
		}
	}
	known, err := e.cases(ctx, parts...)
	if err != nil {
		return err
	}
	for _, p := range parts {
		c, ok := known[e.caseOf(p)]
		if !ok || c.TransactionID != 0 {
			continue
		}
		_, err = e.Disputes.Match(ctx, e.actor, c.ID, disputes.Choice{
			TransactionID: p.TransactionID, Reason: "Same card, amount and day as in the booking",
		})
		if errs.Is(err, errs.ActionNotPossible) { // such as a payment that no longer takes a dispute
			continue
		}
		if err != nil {
			return err
		}
		if err := e.tell(ctx, "dispute %d matched by hand with payment %d", c.ID, p.TransactionID); err != nil {
			return err
		}
	}
	return nil
}

// reasonOf is the reason code of a scheme for services that were not provided.
func reasonOf(s card.Scheme) string {
	return map[card.Scheme]string{card.Visa: "13.1", card.Mastercard: "4853", card.Amex: "C08", card.Discover: "RG"}[s]
}
