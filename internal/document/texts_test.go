package document

import (
	"bytes"
	"testing"
	"time"

	"holdfast/internal/fault"
	"holdfast/internal/protection"
	"holdfast/internal/texts"
)

// TestOurOwnTextsMustPrint: a character that no font has is an error where we have written it.
func TestOurOwnTextsMustPrint(t *testing.T) {
	s := Statement{
		Statement: protection.Statement{Currency: "GBP", ChannelName: "\U0001F31E", IssuedAt: time.Unix(1_700_000_000, 0)},
		Label:     Merchant, Language: "enGB",
	}
	fonts, words := Fonts{Dir: t.TempDir()}, texts.Of("enGB").Section("paper")
	if err := fonts.print(&bytes.Buffer{}, s, words); err != nil {
		t.Errorf("as it is: %v", err)
	}
	words["summary"] = texts.Text{"other": "\U0001F31E"}
	if err := fonts.print(&bytes.Buffer{}, s, words); !fault.Is(err, fault.Unavailable) {
		t.Errorf("with a text that cannot be printed: %v", err)
	}
}
