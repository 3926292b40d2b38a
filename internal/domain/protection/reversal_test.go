package protection_test

import (
	"testing"
	"time"

	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
)

// TestAReversalOfMoreThanWasChargedBackIsFlagged, even where a refund leaves room for it below the amount of the payment.
func TestAReversalOfMoreThanWasChargedBackIsFlagged(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 6, 3, 9, 0, 0, 0, time.UTC)
	event := func(id int64, kind payment.TransactionType, amount int64) protection.Event {
		at = at.Add(time.Hour)
		return protection.Event{TransactionID: id, Kind: kind, Amount: amount, EffectiveAt: at, RecordedAt: at}
	}
	a := protection.Allocation{Amount: 10_000}
	for reversed, want := range map[int64]bool{4000: false, 4001: true, 6000: true} {
		found := a.DoubleRecoveries([]protection.Event{
			event(1, payment.Refund, 3000), event(2, payment.Chargeback, 4000), event(3, payment.ChargebackReversal, reversed),
		})
		if found[2] || found[3] != want {
			t.Errorf("a reversal of %d: %v", reversed, found)
		}
	}
}
