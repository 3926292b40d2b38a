package cli

import (
	"regexp"
	"testing"
)

// TestIssuingRightAfterAMoveOfTheClock: the command lists the statements that are not due yet.
func TestIssuingRightAfterAMoveOfTheClock(t *testing.T) {
	t.Parallel()
	s := prompt{t, t.TempDir()}
	s.run("site", "create", "demo", "--name", "Demo", "--currency", "GBP", "--sandbox")
	s.run("rates", "import", s.file("rates.csv", someRates))
	s.run("import", "payments", s.file("book.csv", aBook), "--site", "demo", "--mode", "protection-only", "--cover-start", "effective")
	s.run("clock", "set", "--site", "demo", "--to", "2199-01-01 00:00:00")
	want := regexp.MustCompile(`^Issued 0 statements\n\d{4} more periods have ended, but payments may still be recorded for them ` +
		`until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d GMT\. Run this command again after that\.\n$`)
	if out := s.run("statements", "issue", "--site", "demo", "--no-wait"); !want.MatchString(out) {
		t.Errorf("it says %q", out)
	}
}
