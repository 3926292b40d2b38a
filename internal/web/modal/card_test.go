package modal_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"testing"

	"holdfast/internal/web/modal"
)

// inModule evaluates an expression over the module card.js, called c, for each of the arguments.
func inModule(t *testing.T, expression string, arguments any) []any {
	t.Helper()
	s, b := newShop(t), newTab(t)
	m := newModal(t, modal.Config{})
	asset := regexp.MustCompile(`/modal/v1/assets/[0-9a-f]+/`).FindString(get(t, m, framePath("")).Body.String())
	b.open(s.service.URL + "/nothing")
	list, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	return b.read("/nothing", fmt.Sprintf(`import("%scard.js").then((c) => %s.map((a) => %s))`, asset, list, expression)).([]any)
}

// check compares the results of a function of card.js with the expected ones.
func check(t *testing.T, expression string, want [][2]string) {
	t.Helper()
	arguments := make([]string, len(want))
	for i, pair := range want {
		arguments[i] = pair[0]
	}
	for i, got := range inModule(t, expression, arguments) {
		if got != want[i][1] {
			t.Errorf("%s of %q is %q, want %q", expression, want[i][0], got, want[i][1])
		}
	}
}

func TestNumbersAreGroupedAsOnTheirCards(t *testing.T) {
	t.Parallel()
	check(t, "c.groupNumber(a)", [][2]string{
		{"", ""},
		{"4", "4"},
		{"42424", "4242 4"},
		{"4242424242424242", "4242 4242 4242 4242"},
		{"4242-4242 4242\u00a04242", "4242 4242 4242 4242"},
		{"4242424242424242123456", "4242 4242 4242 4242 123"},
		{"4２4２42", "4242 42"},
		{"378282246310005", "3782 822463 10005"},
		{"3782822463100059", "3782 822463 10005"},
		{"36227206271667", "3622 720627 1667"},
		{"3056930009020004", "3056 9300 0902 0004"},
		{"5555555555554444", "5555 5555 5555 4444"},
		{"55555555555544449", "5555 5555 5555 4444"},
	})
}

func TestSchemesAreKnownByTheirPrefixes(t *testing.T) {
	t.Parallel()
	check(t, "c.schemeOf(a).name", [][2]string{
		{"", ""},
		{"4", "visa"},
		{"5", ""},
		{"51", "mastercard"},
		{"55", "mastercard"},
		{"2220", ""},
		{"2221", "mastercard"},
		{"2720", "mastercard"},
		{"2721", ""},
		{"34", "amex"},
		{"37", "amex"},
		{"300", "diners"},
		{"305", "diners"},
		{"36", "diners"},
		{"3528", "jcb"},
		{"3589", "jcb"},
		{"3590", ""},
		{"6011", "discover"},
		{"644", "discover"},
		{"65", "discover"},
		{"62", "unionpay"},
		{"6759", "maestro"},
		{"9", ""},
	})
}

func TestWhatIsWrongWithANumber(t *testing.T) {
	t.Parallel()
	check(t, "c.numberProblem(a)", [][2]string{
		{"", "number_empty"},
		{"4", "number_short"},
		{"424242424242424", "number_short"},
		{"4242424242424242", ""},
		{"4242424242424241", "number_wrong"},
		{"4222222222222", ""},
		{"378282246310005", ""},
		{"37828224631000", "number_short"},
		{"378282246310006", "number_wrong"},
		{"30569309025904", ""},
		{"3056930009020004", ""},
		{"5555555555554444", ""},
		{"6200000000000005", ""},
		{"9999999999999995", ""},
		{"0000", "number_short"},
	})
}

func TestExpiryDates(t *testing.T) {
	t.Parallel()
	check(t, "c.groupExpiry(a)", [][2]string{
		{"", ""},
		{"1", "1"},
		{"4", "04 / "},
		{"1/", "01 / "},
		{"12", "12 / "},
		{"1230", "12 / 30"},
		{"12/30", "12 / 30"},
		{"1/30", "01 / 30"},
		{"12 / 2030", "12 / 2030"},
		{"2030-07", "07 / 2030"},
		{"12/３1", "12 / 31"},
		{"12305", "12 / 30"},
	})
	// On the last day of November 2026, at 23:00 GMT.
	check(t, `c.expiryProblem(a, new Date("2026-11-30T23:00:00Z"))`, [][2]string{
		{"", "expiry_empty"},
		{"1", "expiry_wrong"},
		{"13 / 30", "expiry_wrong"},
		{"00 / 30", "expiry_wrong"},
		{"12 / 3", "expiry_wrong"},
		{"12 / 47", "expiry_wrong"},
		{"10 / 26", "expiry_past"},
		{"11 / 26", ""},
		{"12 / 26", ""},
		{"12 / 2026", ""},
		{"01 / 46", ""},
	})
	// It is the last day of the month somewhere until noon of the first, and nowhere after.
	check(t, `c.expiryProblem("11 / 26", new Date(a))`, [][2]string{
		{"2026-12-01T11:59:00Z", ""},
		{"2026-12-01T12:00:00Z", "expiry_past"},
	})
}

func TestCodesAndNames(t *testing.T) {
	t.Parallel()
	check(t, `c.codeProblem(a.split(":")[1], c.schemeOf(a.split(":")[0]))`, [][2]string{
		{"4:", "code_empty"},
		{"4:12", "code_wrong"},
		{"4:123", ""},
		{"4:1234", "code_wrong"},
		{"37:123", "code_wrong"},
		{"37:1234", ""},
		{"9:123", ""},
		{"9:1234", ""},
	})
	check(t, "c.nameProblem(a)", [][2]string{
		{" ", "name_empty"},
		{"Ada Lovelace", ""},
		{"王小明", ""},
		{"Elizabeth 2", ""},
		{"4242 4242 4242 4242", "name_wrong"},
	})
}

func TestTheCaretStaysWhereItIs(t *testing.T) {
	t.Parallel()
	// Before, after the change, caret, whether something was removed.
	steps := [][]any{
		{"424", "4242", 4, false, "number"},
		{"4242 4242", "42942 4242", 3, false, "number"},
		{"4242 4242", "4242 9 4242", 6, false, "number"},
		{"4242 4", "4242 ", 5, true, "number"},
		{"4242 4242", "42424242", 4, true, "number"}, // the space before the caret
		{"4242 4242", "422 4242", 2, true, "number"},
		{"1", "12", 2, false, "expiry"},
		{"", "4", 1, false, "expiry"},
		{"12 / ", "12 /", 4, true, "expiry"},
		{"01 / 27", "1 / 27", 0, true, "expiry"},
		{"12 / 2", "12 / 29", 7, false, "expiry"},
	}
	want := []string{
		"4242|", "429|4 2424 2", "4242 9|424 2", "4242|", "424|4 242", "42|24 242", "12 / |", "04 / |", "1|", "|12 / 7", "12 / 29|",
	}
	got := inModule(t, `(({ text, caret }) => text.slice(0, caret) + "|" + text.slice(caret))(c.retype(a[0], a[1], a[2], a[3], a[4] === "number" ? c.groupNumber : c.groupExpiry))`, steps)
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%v becomes %q, want %q", steps[i], got[i], want[i])
		}
	}
}
