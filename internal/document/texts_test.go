package document

import (
	"bytes"
	"maps"
	"testing"
	"time"

	"holdfast/internal/fault"
	"holdfast/internal/protection"
)

// TestOurOwnTextsMustPrint: a character that no font has is an error where we have written it.
func TestOurOwnTextsMustPrint(t *testing.T) {
	texts["xxXX"] = maps.Clone(texts["enGB"])
	t.Cleanup(func() { delete(texts, "xxXX") })
	s := Statement{
		Statement: protection.Statement{Currency: "GBP", ChannelName: "\U0001F31E", IssuedAt: time.Unix(1_700_000_000, 0)},
		Label:     Merchant, Language: "xxXX",
	}
	if err := (Fonts{Dir: t.TempDir()}).WriteStatement(&bytes.Buffer{}, s); err != nil {
		t.Errorf("as it is: %v", err)
	}
	texts["xxXX"]["summary"] = "\U0001F31E"
	if err := (Fonts{Dir: t.TempDir()}).WriteStatement(&bytes.Buffer{}, s); !fault.Is(err, fault.Unavailable) {
		t.Errorf("with a text that cannot be printed: %v", err)
	}
}
