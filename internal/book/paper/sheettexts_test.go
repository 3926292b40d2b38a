package paper

import (
	"bytes"
	"testing"
	"time"

	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/lib/i18n"
	"holdfast/internal/lib/pdf"
)

// TestOurOwnTextsMustPrint: in our own texts, a character without a font is an error.
func TestOurOwnTextsMustPrint(t *testing.T) {
	s := Printed{
		Statement: protection.Statement{Currency: "GBP", ChannelName: "\U0001F31E", IssuedAt: time.Unix(1_700_000_000, 0)},
		Label:     Merchant, Language: "enGB",
	}
	fonts, words := pdf.Fonts{Dir: t.TempDir()}, i18n.Of("enGB").Section("paper")
	if err := write(&bytes.Buffer{}, fonts, s, words); err != nil {
		t.Errorf("as it is: %v", err)
	}
	words["summary"] = i18n.Text{"other": "\U0001F31E"}
	if err := write(&bytes.Buffer{}, fonts, s, words); !errs.Is(err, errs.Unavailable) {
		t.Errorf("with a text that cannot be printed: %v", err)
	}
}
