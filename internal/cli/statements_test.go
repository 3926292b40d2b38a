package cli

import (
	"regexp"
	"testing"
)

// TestIssuingRightAfterAMoveOfTheClock: the command says which statements still wait.
func TestIssuingRightAfterAMoveOfTheClock(t *testing.T) {
	t.Parallel()
	s := prompt{t, t.TempDir()}
	s.run("site", "create", "demo", "--name", "Demo", "--currency", "GBP", "--sandbox")
	s.run("rates", "import", s.file("rates.csv", someRates))
	s.run("import", "payments", s.file("book.csv", aBook), "--site", "demo", "--mode", "protection-only", "--cover-start", "effective")
	s.run("clock", "set", "--site", "demo", "--to", "2199-01-01 00:00:00")
	told := regexp.MustCompile(`^0 statements are issued\n\d{4} more periods have ended; their last payments may still be being ` +
		`recorded until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d GMT: run this command again after that\n$`)
	if out := s.run("statements", "issue", "--site", "demo", "--no-wait"); !told.MatchString(out) {
		t.Errorf("it says %q", out)
	}
}
