package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestLimitsAndCollateral: limits and collateral are listed, as a table and as the JSON of the API.
func TestLimitsAndCollateral(t *testing.T) {
	t.Parallel()
	s := prompt{t, t.TempDir()}
	s.run("site", "create", "demo", "--name", "Demo", "--currency", "GBP", "--sandbox")
	s.run("rates", "import", s.file("rates.csv", someRates))
	s.run("limits", "set", "transaction", "2000 GBP", "--site", "demo", "--note", "Season")
	s.run("limits", "set", "site", "9,000.00", "gbp", "--site", "demo")
	s.run("import", "payments", s.file("book.csv", aBook), "--site", "demo", "--mode", "protection-only", "--cover-start", "effective")
	s.run("collateral", "add", "guarantee", "GBP 1,000", "--site", "demo", "--merchant", "3", "--from", "2024-01-01", "--reference", "G-17")
	for want, args := range map[string][]string{
		"9,000.00":                 {"limits", "list"},
		"2,000.00":                 {"limits", "list"},
		"USED":                     {"limits", "list"},
		"No events":                {"limits", "events"},
		"No payments over":         {"limits", "over"},
		"G-17":                     {"collateral", "list"},
		"1,000.00  1,500.00":       {"what-if", "--as-of", "2024-06-26"},
		"MONTH OF TRAVEL":          {"what-if", "--as-of", "2024-06-26", "--merchants", "2"},
		"50 % of the last 60 days": {"exposure-model", "--as-of", "2024-06-26", "--bands", "60:500000"},
		"total":                    {"exposure-model"},
	} {
		out := s.run(append(args, "--site", "demo")...)
		if !strings.Contains(out, want) {
			t.Errorf("%v: %q is not in\n%s", args, want, out)
		}
		var shape any
		if err := json.Unmarshal([]byte(s.run(append(args, "--site", "demo", "--json")...)), &shape); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
	// Under a policy in another currency nothing counts against them, and both commands say so.
	policy := s.run("policy", "set", s.file("euros.json", `{"from": "1990-01-01", "currency": "EUR"}`), "--site", "demo")
	if want := "because they are not in EUR: 1, 2."; !strings.Contains(policy, want) {
		t.Errorf("%q is not in\n%s", want, policy)
	}
	if out, want := s.run("limits", "list", "--site", "demo"), "do not count toward a limit in GBP"; strings.Count(out, want) != 2 {
		t.Errorf("%q is not twice in\n%s", want, out)
	}
	for want, args := range map[string][]string{
		"holdfast: <scope> must be one of":           {"limits", "set", "planet", "5 GBP"},
		"<amount>: The limit must be greater than 0": {"limits", "set", "site", "0 GBP"},
		"this amount is in CHF":                      {"limits", "set", "site", "5 CHF"},
		"--merchant: Channel 99 not found":           {"limits", "set", "merchant", "5 EUR", "--merchant", "99"},
		"<amount>: This field is required":           {"limits", "set", "site"},
		"<kind>: Must be one of":                     {"collateral", "add", "gold", "5 GBP"},
		"--bands: Invalid bands: use":                {"exposure-model", "--bands", "30"},
		"--merchants: Channel 99 not found":          {"what-if", "--merchants", "99"},
		"--currency: \"XXQ\" is not an ISO 4217":     {"what-if", "--currency", "XXQ"},
		"invalid values:\n  --merchants: Channel":    {"what-if", "--currency", "XXQ", "--merchants", "99"},
	} {
		if _, said, code := s.try(append(args, "--site", "demo")...); code != exitUsage || !strings.Contains(said, want) {
			t.Errorf("%v: exit code %d, %s", args, code, said)
		}
	}
}
