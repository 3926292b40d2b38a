package mail_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/book/underwriting"
	"holdfast/internal/domain/check"
	"holdfast/internal/notify/mail"
)

// remote matches everything that a mail client would load from elsewhere, or reject.
var remote = regexp.MustCompile(`(?i)(src|background|poster)="(https?:|//)|url\(|@import|<(script|link|iframe|form|object|video)\b`)

// TestEveryMailInEveryLanguage: each text is translated, loads nothing from elsewhere, and is small enough not to be
// truncated by mail clients.
func TestEveryMailInEveryLanguage(t *testing.T) {
	t.Parallel()
	const link = "https://service.example/certificate/abcdefghijklmnopqrstuvwxyz"
	for _, language := range check.Languages {
		for _, kind := range mail.Kinds {
			letter := aMail().Letter
			letter.Language, letter.Test, letter.Descriptor, letter.Channel, letter.Reason = language, true, "HARBOUR*TRAVEL", "Harbour", "13.1"
			letter.PaidCurrency, letter.Paid, letter.Unpaid, letter.Scheme, letter.Digits = "JPY", 80000, 100, "visa", "4242"
			letter.Lines, letter.Address, letter.Days = []string{"a head"}, "https://shop.example/hooks", 3
			letter.Report = &mail.ReportFacts{Title: "Exposure", About: "At the end of 10 Jun 2024.", File: "exposure.csv", Bytes: 10, When: "every Monday", Address: link}
			letter.Protection = &mail.ProtectionFacts{State: underwriting.Refused, Company: "Alpine", Note: "No.", Page: "/x"}
			letter.Insolvency = &mail.InsolvencyFacts{Event: "insolvency.confirmed", Kind: "liquidation", Evidence: "A notice", Page: "/x"}
			letter.Payout = &mail.PayoutFacts{State: "planned", Number: 3, Amount: 100, Currency: "EUR", Page: "/x"}
			letter.Dispute = &mail.DisputeFacts{Source: "adyen", CaseID: "DP01", Amount: 100, Currency: "EUR", Reason: "13.1", Page: "/x"}
			made, err := mail.Write(letter, kind, link)
			if err != nil {
				t.Fatalf("%s %s: %v", language, kind, err)
			}
			if made.Subject == "" || made.Language[:2] != language[:2] || strings.Contains(made.Subject+made.Text, "{") {
				t.Errorf("%s %s: %q in %s\n%s", language, kind, made.Subject, made.Language, made.Text)
			}
			if found := remote.FindString(made.HTML); found != "" {
				t.Errorf("%s %s loads %s", language, kind, found)
			}
			if len(made.HTML) > 20_000 || len(made.Code) > 5_000 {
				t.Errorf("%s %s: %d bytes of HTML, %d of the image", language, kind, len(made.HTML), len(made.Code))
			}
			links := slices.Contains([]mail.Kind{mail.Receipt, mail.Refund, mail.Invitation, mail.Access, mail.Password, mail.AddressKind, mail.ReportKind, mail.ProtectionAsked,
				mail.ProtectionAnswered, mail.InsolvencyReported, mail.Insolvency, mail.DisputeDue, mail.PayoutKind}, kind)
			if strings.Contains(made.Text, link) != links || strings.Contains(made.HTML, link) != links {
				t.Errorf("%s %s: the link is in %q", language, kind, made.Text)
			}
		}
	}
}

// TestNamesStayText: user input is never markup.
func TestNamesStayText(t *testing.T) {
	t.Parallel()
	for _, text := range append(nasty, `<img src="https://evil.example/x.png">`, "</style><script>x()</script>", "{{.Sender}}", "{merchant}") {
		letter := aMail().Letter
		letter.Sender, letter.Name, letter.Reference, letter.Descriptor = text, text, text, text
		for _, kind := range []mail.Kind{mail.Receipt, mail.Failure} {
			made, err := mail.Write(letter, kind, "https://service.example/certificate/abc")
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			if found := remote.FindString(made.HTML); found != "" || strings.Count(made.HTML, "</style>") != 1 {
				t.Errorf("%q becomes markup: %s", text, found)
			}
			if strings.ContainsAny(made.Subject, "\r\n") {
				t.Errorf("%q: the subject is %q", text, made.Subject)
			}
		}
	}
}

// TestALetterIsStoredCompletely: the text of a stored letter equals that of the original.
func TestALetterIsStoredCompletely(t *testing.T) {
	t.Parallel()
	letter := aMail().Letter
	letter.On, letter.Start, letter.End, letter.Until = 20_000, 0, 20_020, 20_200
	kept, err := json.Marshal(letter)
	if err != nil {
		t.Fatal(err)
	}
	var read mail.Letter
	if err := json.Unmarshal(kept, &read); err != nil {
		t.Fatal(err)
	}
	before, err := mail.Write(letter, mail.Receipt, "")
	if err != nil {
		t.Fatal(err)
	}
	after, err := mail.Write(read, mail.Receipt, "")
	if err != nil || before.Text != after.Text || before.HTML != after.HTML {
		t.Errorf("%v: before\n%s\nafter\n%s", err, before.Text, after.Text)
	}
	if !strings.Contains(before.Text, "Protected") && !strings.Contains(before.Text, "protected") {
		t.Errorf("the text is\n%s", before.Text)
	}
}
