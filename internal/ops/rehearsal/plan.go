package rehearsal

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/dispute"
)

// Bounds of a rehearsal.
const (
	// Days is how many days a rehearsal takes, from the failure until it is closed.
	Days = 20
	// MostPayments is how many payments are disputed at most.
	MostPayments = 30
	// consider is how many of the latest affected payments are chosen from.
	consider = 500
)

// The days of steps that concern the whole event.
const (
	closeClaimsOn = 16
	recoverOn     = 18
)

// entry is a line of a processor's file: what it reports on a day about a case.
type entry struct {
	day       int // after the failure
	processor string
	word      string // the processor's
	again     bool   // about a second case of the same payment
	rapid     bool   // a rapid resolution: the issuer was paid without a chargeback
	blind     bool   // without references: only card, day and amount
}

// story is what happens to one payment.
type story struct {
	entries []entry
	manual  int // the day on which a person records the dispute; 0: never
	refund  int // the day on which the payment is refunded
	note    int // the day on which the traveller leaves a note
	contest int // the day on which the dispute is represented with evidence
}

// stories are told in this order; small merchants have only the first ones. From repeat on they are told again.
var stories = []story{
	{entries: []entry{{day: 1, processor: dispute.Adyen, word: "Chargeback"}}},
	{entries: []entry{{day: 3, processor: dispute.Adyen, word: "Chargeback"}, {day: 6, processor: dispute.Adyen, word: "Chargeback", again: true}}},
	{entries: []entry{{day: 5, processor: dispute.Stripe, word: "needs_response"}}, refund: 2},
	{entries: []entry{{day: 2, processor: dispute.PayPal, word: "T1201"}, {day: 2, processor: dispute.PayPal, word: "T0106"}}},
	{manual: 3, note: 2},
	{entries: []entry{{day: 4, processor: dispute.Stripe, word: "needs_response"}}, contest: 7},
	{entries: []entry{{day: 3, processor: dispute.Adyen, word: "Chargeback"}, {day: 5, processor: dispute.Adyen, word: "ChargebackReversed"}}},
	{entries: []entry{{day: 2, processor: dispute.Braintree, word: "OPEN"}, {day: 8, processor: dispute.Braintree, word: "LOST"}}},
	{entries: []entry{{day: 5, processor: dispute.Adyen, word: "Chargeback", blind: true}}},
	{entries: []entry{{day: closeClaimsOn + 1, processor: dispute.Adyen, word: "Chargeback"}}},
	{entries: []entry{{day: 4, processor: dispute.JPMorgan, word: "RECD"}}},
	{entries: []entry{{day: 1, processor: dispute.Adyen, word: "RequestForInformation"}}},
	{entries: []entry{
		{day: 2, processor: dispute.Adyen, word: "Chargeback"}, {day: 5, processor: dispute.Adyen, word: "ChargebackReversed"},
		{day: 10, processor: dispute.Adyen, word: "SecondChargeback"},
	}},
	{entries: []entry{{day: 3, processor: dispute.Stripe, word: "lost", rapid: true}}},
	{entries: []entry{{day: 1, processor: dispute.Braintree, word: "OPEN"}, {day: 11, processor: dispute.Braintree, word: "EXPIRED"}}},
	// From here on, the stories are repeated.
	{entries: []entry{{day: 6, processor: dispute.Stripe, word: "needs_response"}, {day: 11, processor: dispute.Stripe, word: "lost"}}},
	{entries: []entry{{day: 7, processor: dispute.PayPal, word: "T1201"}}},
	{entries: []entry{{day: 8, processor: dispute.JPMorgan, word: "RECD"}}},
	{entries: []entry{{day: 10, processor: dispute.Adyen, word: "Chargeback"}}},
	{entries: []entry{{day: 12, processor: dispute.Adyen, word: "Chargeback", blind: true}}},
}

const (
	contested = 5  // the place of the story in which the dispute is represented
	repeated  = 15 // the place of the first story that is repeated
)

// part is an affected payment with its story.
type part struct {
	insolvencies.Affected
	story
	number int // from 1
}

// partsOf chooses the payments that are disputed, and their stories. The same snapshot always gives the same parts: the payments are
// ordered by a hash of their ids, so that they come from the whole of the list.
func partsOf(affected []insolvencies.Affected) (parts []part) {
	var payable, other []insolvencies.Affected
	seen := map[int64]bool{}
	slices.SortFunc(affected, func(a, b insolvencies.Affected) int {
		return cmp.Or(cmp.Compare(shuffled(a.AllocationID), shuffled(b.AllocationID)), cmp.Compare(a.AllocationID, b.AllocationID))
	})
	for _, a := range affected {
		switch {
		case seen[a.TransactionID]: // it pays several bookings
			continue
		case a.Eligible():
			payable = append(payable, a)
		default:
			other = append(other, a)
		}
		seen[a.TransactionID] = true
	}
	if len(other) > 0 { // a journey that is over: its dispute is represented
		payable = slices.Insert(payable, min(contested, len(payable)), other[0])
	}
	for i, a := range payable[:min(len(payable), MostPayments)] {
		of := i
		if i >= len(stories) {
			of = repeated + (i-repeated)%(len(stories)-repeated)
		}
		parts = append(parts, part{a, stories[of], i + 1})
	}
	return parts
}

func shuffled(id int64) uint64 {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("rehearsal"), uint64(id)))
	return binary.BigEndian.Uint64(sum[:])
}

// caseOf is the processor's id of a case about a part.
func caseOf(insolvency int64, number int, again bool) string {
	id := fmt.Sprintf("RH%d-%03d", insolvency, number)
	if again {
		id += "B"
	}
	return id
}

// filedBefore reports whether a case about the part was reported before a day.
func (p part) filedBefore(day int) bool {
	return p.manual > 0 && p.manual < day || len(p.entries) > 0 && p.entries[0].day < day
}
