package paper_test

import (
	"bytes"
	"testing"
	"time"

	"holdfast/internal/book/certificates"
	"holdfast/internal/book/claims"
	"holdfast/internal/book/disputes"
	"holdfast/internal/book/paper"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/payment"
	"holdfast/internal/lib/pdf"
)

// aRepresentment has evidence of every kind, with names in several scripts and characters that no font has.
func aRepresentment() claims.Representment {
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	day := civil.DayOf(at)
	r := claims.Representment{
		At: at, From: "Harbour Protection Ltd", Merchant: "Ünal Seyahat \U0001F600",
		Dispute: disputes.Case{
			ID: 3, Source: "adyen", CaseID: "X2J4", State: dispute.State{Stage: dispute.Chargeback, Status: dispute.Open, ReasonCode: "13.1", DueOn: day + 9},
			Family: dispute.NotProvided, Amount: 60_000, Currency: "EUR", OpenedOn: day, BaseCurrency: "EUR", Debits: 60_000,
		},
		Payment: payment.Transaction{
			ID: 8120, Total: 125_000, Currency: "EUR", EffectiveAt: at.AddDate(0, -2, 0), CardType: "visa", AuthCode: "042871", BIN: "411111",
			LastFour: "1111", Reference: "PAY-1", ProcessorReference: "K7L9X2", AcquirerReference: "74537604221222225477581",
		},
		Claims:   []claims.Claim{{ID: 4, Currency: "EUR", Disputed: 60_000, Represent: 60_000, Reason: claim.Refunded}},
		Others:   []disputes.Case{{Source: dispute.Manual, CaseID: "CB-9", State: dispute.State{Status: dispute.Lost}, OpenedOn: day - 5, BaseCurrency: "EUR", Debits: 9_000}},
		Evidence: []disputes.Evidence{{Name: "receipt.pdf", AddedAt: at, Note: "The refund of 2 March."}},
	}
	b := claims.RepresentedBooking{
		Service: claim.ServiceBy(day-10, day-3, day), Disputed: day, LastDay: day - 2, DaysLate: 2,
		Note: certificates.Note{At: at, Asked: certificates.AskedInsurer, PaidBack: 4_000},
	}
	b.ID, b.Reference, b.Firstname, b.Surname, b.Currency = 5017, "ALP-1", "Ada", "محمد", "EUR"
	r.Bookings = append(r.Bookings, b)
	for i := range claims.MostRepresented {
		r.Refunds = append(r.Refunds, payment.Transaction{ID: int64(i), Total: 500, Currency: "EUR", EffectiveAt: at, Reference: "REF-1"})
	}
	return r
}

// TestARepresentmentPrints on as many pages as it needs, and always as the same bytes.
func TestARepresentmentPrints(t *testing.T) {
	t.Parallel()
	r := aRepresentment()
	if got := r.Grounds(); len(got) != len(claims.Grounds) {
		t.Errorf("%v", got)
	}
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := paper.WriteRepresentmentPDF(out, pdf.Fonts{}, r); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.HasPrefix(first.Bytes(), []byte("%PDF-")) || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("%d bytes, and then %d", first.Len(), second.Len())
	}
	if pages := bytes.Count(first.Bytes(), []byte("/Type /Page\n")); pages != 3 {
		t.Errorf("%d pages", pages)
	}
	keep(t, "representment", first.Bytes())
	var bare bytes.Buffer // no evidence at all
	if err := paper.WriteRepresentmentPDF(&bare, pdf.Fonts{}, claims.Representment{At: r.At, Dispute: r.Dispute, Payment: r.Payment}); err != nil {
		t.Fatal(err)
	}
	if pages := bytes.Count(bare.Bytes(), []byte("/Type /Page\n")); pages != 1 {
		t.Errorf("%d pages", pages)
	}
}
