package dispute_test

import (
	"testing"

	"holdfast/internal/domain/dispute"
)

func TestFamilyOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code, reason string
		want         dispute.Family
	}{
		{"", "", ""},
		{"13.1", "", dispute.NotProvided},
		{" c08 ", "", dispute.NotProvided},
		{"13.6", "Services not received", dispute.CreditNotProcessed}, // the code decides
		{"4853", "Services Not Provided", dispute.NotProvided},
		{"4853", "Credit Not Processed", dispute.CreditNotProcessed},
		{"4853", "", dispute.OtherReason},
		{"", "product_not_received", dispute.NotProvided},
		{"credit_not_processed", "", dispute.CreditNotProcessed},
		{"10.4", "Other fraud", dispute.OtherReason},
	} {
		if got := dispute.FamilyOf(c.code, c.reason); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.code, c.reason, got, c.want)
		}
	}
}
