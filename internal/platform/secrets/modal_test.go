package secrets_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"holdfast/internal/errs"
	"holdfast/internal/platform/secrets"
)

// The test vector of the specification.
const (
	modalSecret = "example-channel-secret"
	modalVector = "bbba981afdcdc5064f72f535707b7eba3f521e5d19dc77c7b860c00204002bff20190812055213"
)

var (
	modalFields  = map[string]string{"total": "9999", "channels": "2", "currencies": "USD"}
	modalStamped = time.Date(2019, 8, 12, 5, 52, 13, 0, time.UTC)
)

func TestModalStringOfTheWire(t *testing.T) {
	if got := secrets.ModalString(modalSecret, modalFields, modalStamped); got != modalVector {
		t.Errorf("got %s, want %s", got, modalVector)
	}
	// The timestamp is GMT whatever the time zone of the clock.
	there := modalStamped.In(time.FixedZone("IST", 19800))
	if got := secrets.ModalString(modalSecret, modalFields, there); got != modalVector {
		t.Errorf("in another zone: %s, want %s", got, modalVector)
	}
}

func TestModalStringIsFreshForFifteenMinutes(t *testing.T) {
	for age, fresh := range map[time.Duration]bool{
		-time.Hour: false, -time.Minute - 1: false, -time.Minute: true, 0: true,
		15 * time.Minute: true, 15*time.Minute + 1: false, 24 * time.Hour: false,
	} {
		err := secrets.CheckModalString(modalSecret, modalFields, modalVector, modalStamped.Add(age))
		if (err == nil) != fresh || err != nil && !errs.Is(err, errs.ModalAuth) {
			t.Errorf("aged %v: %v, want fresh %v", age, err, fresh)
		}
	}
}

func TestModalStringVouchesForItsFieldsOnly(t *testing.T) {
	check := func(why, secret string, fields map[string]string, got string) {
		t.Helper()
		if err := secrets.CheckModalString(secret, fields, got, modalStamped); !errs.Is(err, errs.ModalAuth) {
			t.Errorf("%s: %v, want a ModalAuth fault", why, err)
		}
	}
	for name := range modalFields {
		changed := maps.Clone(modalFields)
		changed[name] += "0"
		check(name+" changed", modalSecret, changed, modalVector)
		delete(changed, name)
		check(name+" dropped", modalSecret, changed, modalVector)
	}
	more := maps.Clone(modalFields)
	more["reference"] = ""
	check("a field more", modalSecret, more, modalVector)
	check("another secret", modalSecret+"x", modalFields, modalVector)
	check("no secret, signed with none", "", modalFields, secrets.ModalString("", modalFields, modalStamped))
	check("empty", modalSecret, modalFields, "")
	check("only a stamp", modalSecret, modalFields, modalVector[64:])
	check("no stamp", modalSecret, modalFields, modalVector[:64])
	check("another stamp", modalSecret, modalFields, modalVector[:64]+"20190812055214")
	check("a stamp that is no time", modalSecret, modalFields, modalVector[:64]+"20191312055213")
	check("capitals", modalSecret, modalFields, strings.ToUpper(modalVector))
	check("something before", modalSecret, modalFields, "0"+modalVector)
	check("something after", modalSecret, modalFields, modalVector+"0")
}

// Expected values by `printf %s … | sha256sum`, twice.
func TestTransactionHashChangesWithTheStatus(t *testing.T) {
	pending := secrets.TransactionHash(73, "pending", 9999, modalSecret)
	complete := secrets.TransactionHash(73, "complete", 9999, modalSecret)
	if want := "15aa9061dd7ebe06e242e6f65de04efe2c120ddcce8fa732137e40b2ba6b5216"; pending != want {
		t.Errorf("pending: %s, want %s", pending, want)
	}
	if want := "a7bef22d6c901b0a4b1d6a9ca06f6b03fd1b4e47ee6a071f5721ebb1c4e23d26"; complete != want {
		t.Errorf("complete: %s, want %s", complete, want)
	}
}

// TestListsAreSignedAsTheirEncodersWriteThem: one list, as encoded by default in several languages, and as a page may
// pass it.
func TestListsAreSignedAsTheirEncodersWriteThem(t *testing.T) {
	const plain = `[{"label":"Hôtel & <Bar>/😀 \"it's\"","n":[1,{}],"total":-10.50,"x":null}]`
	forms := map[string]string{
		"JavaScript": plain,
		"PHP":        `[{"label":"H\u00f4tel & <Bar>\/\ud83d\ude00 \"it's\"","n":[1,{}],"total":-10.50,"x":null}]`,
		"PHP, flags": `[{"label":"H\u00f4tel \u0026 \u003CBar\u003E\/\ud83d\ude00 \u0022it\u0027s\u0022","n":[1,{}],"total":-10.50,"x":null}]`,
		"Swift":      `[{"label":"Hôtel & <Bar>\/😀 \"it's\"","n":[1,{}],"total":-10.50,"x":null}]`,
		"Python":     `[{"label": "H\u00f4tel & <Bar>/\ud83d\ude00 \"it's\"", "n": [1, {}], "total": -10.50, "x": null}]`,
		"Go":         `[{"label":"Hôtel \u0026 \u003cBar\u003e/😀 \"it's\"","n":[1,{}],"total":-10.50,"x":null}]`,
		"Gson":       `[{"label":"Hôtel \u0026 \u003cBar\u003e/😀 \"it\u0027s\"","n":[1,{}],"total":-10.50,"x":null}]`,
		".NET":       `[{"label":"H\u00F4tel \u0026 \u003CBar\u003E/\uD83D\uDE00 \u0022it\u0027s\u0022","n":[1,{}],"total":-10.50,"x":null}]`,
	}
	with := func(text string) map[string]string {
		fields := maps.Clone(modalFields)
		fields["allocations"] = text
		return fields
	}
	for signer, signed := range forms {
		got := secrets.ModalString(modalSecret, with(signed), modalStamped)
		for page, passed := range forms {
			if err := secrets.CheckModalString(modalSecret, with(passed), got, modalStamped); err != nil {
				t.Errorf("signed by %s, passed as by %s: %v", signer, page, err)
			}
		}
		for what, passed := range map[string]string{
			"another order":  `[{"n":[1,{}],"label":"Hôtel & <Bar>/😀 \"it's\"","total":-10.50,"x":null}]`,
			"another number": strings.Replace(plain, "10.50", "10.51", 1),
			"one item more":  strings.Replace(plain, "}]", "},{}]", 1),
			"no JSON":        strings.TrimSuffix(signed, "]"),
		} {
			if err := secrets.CheckModalString(modalSecret, with(passed), got, modalStamped); !errs.Is(err, errs.ModalAuth) {
				t.Errorf("signed by %s, %s: %v", signer, what, err)
			}
		}
		if got := secrets.OneForm("allocations", signed); got != plain {
			t.Errorf("of %s, the one form is %s", signer, got)
		}
	}
	// Other fields are strings, even if they look like a list.
	fields := maps.Clone(modalFields)
	fields["reference"] = `["a\/b"]`
	got := secrets.ModalString(modalSecret, fields, modalStamped)
	fields["reference"] = `["a/b"]`
	if err := secrets.CheckModalString(modalSecret, fields, got, modalStamped); !errs.Is(err, errs.ModalAuth) {
		t.Errorf("a text in another form: %v", err)
	}
	if got := secrets.OneForm("reference", `["a\/b"]`); got != `["a\/b"]` {
		t.Errorf("a text becomes %s", got)
	}
}
