package nearest_test

import (
	"strings"
	"testing"

	"holdfast/internal/lib/nearest"
)

func TestOf(t *testing.T) {
	t.Parallel()
	list := []string{"card_types", "currencies", "date", "date_start", "total"}
	for word, want := range map[string]string{
		"card_type": "card_types", "Card Types": "card_types", "curency": "currencies", "dates": "date", "start_date": "date_start", "startdate": "",
		"foo": "", "": "", "totl": "total", "daet": "date", "atde": "date", "tdea": "", "ottal": "total", "date-start": "date_start", strings.Repeat("currencies", 1000): "",
	} {
		if got := nearest.Of(word, list); got != want {
			t.Errorf("%.20q is %q, want %q", word, got, want)
		}
	}
}
