package dispute_test

import (
	"slices"
	"strings"
	"testing"

	"holdfast/internal/domain/dispute"
)

// TestWordsOfProcessors repeats the table of R14, row by row: source, words, stage, status and moves. "-" leaves it unchanged; ~ marks a
// movement without a day.
func TestWordsOfProcessors(t *testing.T) {
	t.Parallel()
	const table = `
adyen      NotificationOfFraud       inquiry          open
adyen      RequestForInformation     inquiry          open
adyen      NotificationOfChargeback  chargeback       open
adyen      Chargeback                chargeback       open        debit1
adyen      ChargebackReversed        chargeback       won         credit
adyen      SecondChargeback          pre_arbitration  lost        debit2
stripe     warning_needs_response    inquiry          open
stripe     warning_under_review      inquiry          challenged
stripe     warning_closed            inquiry          cancelled
stripe     needs_response            chargeback       open        debit
stripe     under_review              chargeback       challenged  debit
stripe     lost                      chargeback       lost        debit
stripe     won                       chargeback       won         debit credit~
stripe     prevented                 pre_dispute      prevented   prevented
braintree  RETRIEVAL                 inquiry          -
braintree  CHARGEBACK                chargeback       -
braintree  PRE_ARBITRATION           pre_arbitration  -
braintree  OPEN                      -                open        debit
braintree  DISPUTED                  -                challenged  debit
braintree  WON                       -                won         credit
braintree  LOST                      -                lost        debit
braintree  EXPIRED                   -                expired     debit
braintree  ACCEPTED                  -                accepted    debit
paypal     T1201                     chargeback       open        debit
paypal     T1202                     chargeback       won         credit
paypal     T0106                     -                -           fee
jpmorgan   RECD                      -                open
jpmorgan   REP                       -                challenged
jpmorgan   RTM                       -                lost
jpmorgan   ENDINV                    -                -
`
	for line := range strings.Lines(strings.TrimSpace(table)) {
		row := strings.Fields(line)
		m, ok := dispute.Means(row[0], row[1])
		if !ok {
			t.Errorf("%s %s is not known", row[0], row[1])
			continue
		}
		got := []string{dash(string(m.Stage)), dash(string(m.Status))}
		for _, move := range m.Moves {
			text := string(move.Kind)
			if move.Number > 0 {
				text += string(rune('0' + move.Number))
			}
			if move.Undated {
				text += "~"
			}
			got = append(got, text)
		}
		if !slices.Equal(got, row[2:]) {
			t.Errorf("%s %s means %v, not %v", row[0], row[1], got, row[2:])
		}
		if m.Stage != "" && !m.Stage.Known() || m.Status != "" && !m.Status.Known() {
			t.Errorf("%s %s: stage %q, status %q", row[0], row[1], m.Stage, m.Status)
		}
	}
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func TestWordsAreReadHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	for source, written := range map[string][]string{
		dispute.Adyen:    {"SECOND_CHARGEBACK", "second chargeback", "SecondChargeback"},
		dispute.Stripe:   {"Warning needs response", "WARNING_NEEDS_RESPONSE"},
		dispute.Worldpay: {"PRE-ARBITRATION", "Pre Arbitration"},
	} {
		for _, word := range written {
			if _, ok := dispute.Means(source, word); !ok {
				t.Errorf("%s: %q is not known", source, word)
			}
		}
	}
	for _, word := range []string{"", "Settled", "chargebacks"} {
		if m, ok := dispute.Means(dispute.Adyen, word); ok {
			t.Errorf("%q means %v", word, m)
		}
	}
}

// TestSourceText: processors have their proper names, other sources their own.
func TestSourceText(t *testing.T) {
	for source, want := range map[string]string{
		dispute.Manual: "Recorded by hand", dispute.JPMorgan: "J.P. Morgan", dispute.CheckoutCom: "Checkout.com", dispute.Adyen: "Adyen", "acme": "acme",
	} {
		if got := dispute.SourceText(source); got != want {
			t.Errorf("%s is named %q, want %q", source, got, want)
		}
	}
	if got := dispute.CaseText(dispute.Adyen, "DP01"); got != "Adyen DP01" {
		t.Errorf("a case is named %q", got)
	}
}
