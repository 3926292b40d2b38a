package paper_test

import (
	"bytes"
	"testing"
	"time"

	"holdfast/internal/book/claims"
	"holdfast/internal/book/paper"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/lib/pdf"
)

// aPayout is a payout over two pages, with names in several scripts and characters that no font has.
func aPayout() claims.Document {
	d := claims.Document{
		Payout: claims.Payout{
			Number: 12, State: claim.PayoutPaid, PolicyCurrency: "GBP", Value: 100_000, Amount: 117_647, Quote: fx.Quote{From: "GBP", To: "EUR"},
			Beneficiary: "BEN-204", PlannedAt: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), SignedBy: "ada", BankReference: "BANK-4711",
		},
		From: merchant.Party{Name: "Harbour Protection Ltd", Address: "1 Quay\nLondon"}, Merchant: "Ünal Seyahat \U0001F600", More: 7,
	}
	for i := range int64(80) {
		d.Claims = append(d.Claims, claims.PaidClaim{PayoutLine: claims.PayoutLine{ClaimID: i + 1, Value: 2_500 - 100*i}, BookingID: 90 + i, Source: "adyen", CaseID: "X2J4"})
	}
	return d
}

// TestAPayoutPrints on as many pages as it needs, and always as the same bytes.
func TestAPayoutPrints(t *testing.T) {
	t.Parallel()
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := paper.WritePayoutPDF(out, pdf.Fonts{}, aPayout()); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.HasPrefix(first.Bytes(), []byte("%PDF-")) || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("%d bytes, and then %d", first.Len(), second.Len())
	}
	if pages := bytes.Count(first.Bytes(), []byte("/Type /Page\n")); pages != 2 {
		t.Errorf("%d pages", pages)
	}
	keep(t, "payout", first.Bytes())
}
