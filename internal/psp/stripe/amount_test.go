package stripe_test

import (
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"holdfast/internal/domain/money"
	"holdfast/internal/psp"
)

// counted is the number of decimals at the processor, by its documentation, if it is not two.
var counted = map[money.Currency]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "JPY": 0, "KMF": 0, "KRW": 0, "MGA": 0, "PYG": 0, "RWF": 0, "VND": 0, "VUV": 0,
	"XAF": 0, "XOF": 0, "XPF": 0, "BHD": 3, "JOD": 3, "KWD": 3, "OMR": 3, "TND": 3,
}

// refusedCurrencies are those that the processor does not accept, or that its documentation contradicts itself about.
var refusedCurrencies = strings.Fields(`BOV BTN CHE CHW CLF COU CUP ERN GHS IQD IRR KPW LYD MRU MXV SDG SSP STN SVC SYP TMT UGX ANG BGN CYP EEK HRK LTL LVL MTL ROL SIT SKK SLL TRL ZWL
	USN UYI UYW VED VES XAD ZWG`)

// In every currency the processor gets exactly the right amount, or no request.
func TestNoAmountIsWrongByAFactor(t *testing.T) {
	w := newWorld(t)
	for _, c := range money.Currencies() {
		charge := w.charge()
		// A hundred and twenty of its major units.
		charge.Currency, charge.Amount = c, 120*power(c.Exponent())
		w.asked = nil
		w.codes[cardToken] = securityCode
		w.on(openCall, ok(recorded(t, "payment_intent", nil)))
		places, listed := counted[c]
		if !listed {
			places = 2
		}
		sent := 120 * power(places)
		w.on(confirmCall, ok(recorded(t, "payment_intent", change{
			"status": "succeeded", "amount": sent, "amount_received": sent, "currency": strings.ToLower(string(c)),
		})))
		r, err := w.gateway.Purchase(deadline(t), charge)
		if slices.Contains(refusedCurrencies, string(c)) {
			if psp.KindOf(err) != psp.Invalid || len(w.asked) != 0 {
				t.Errorf("%s: %+v, %v", c, r, err)
			}
			continue
		}
		if err != nil || r.Outcome != psp.Approved || r.Amount != charge.Amount {
			t.Errorf("%s: %+v, %v", c, r, err)
			continue
		}
		if f := w.last(openCall).form; f.Get("amount") != strconv.FormatInt(sent, 10) || f.Get("currency") != strings.ToLower(string(c)) {
			t.Errorf("%s: %d goes out as %v", c, charge.Amount, f)
		}
	}
}

func power(n int) int64 { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil).Int64() }

func TestAmountsThatTheProcessorCannotCount(t *testing.T) {
	w := newWorld(t)
	for _, tt := range []struct {
		amount   int64
		currency money.Currency
	}{
		{12050, "MGA"}, {5124, "KWD"}, {1, "TND"}, {1 << 62, "ISK"}, {-100, "EUR"}, {0, "JPY"},
	} {
		c := w.charge()
		c.Amount, c.Currency = tt.amount, tt.currency
		if _, err := w.gateway.Purchase(deadline(t), c); psp.KindOf(err) != psp.Invalid || len(w.asked) != 0 {
			t.Errorf("%d %s: %v", tt.amount, tt.currency, err)
		}
	}
	w.opened(ok(recorded(t, "payment_intent", change{"status": "succeeded", "amount_received": 550, "currency": "isk"})))
	if r, err := w.gateway.Purchase(deadline(t), w.charge()); err != nil || r.Outcome != psp.Unknown || r.Message == "" {
		t.Errorf("half a krona: %+v, %v", r, err)
	}
}

func TestDescriptors(t *testing.T) {
	w := newWorld(t)
	for text, want := range map[string]string{
		"": "", "Lisbon Trips": "Lisbon Trips", "  Sea & Sun ": "Sea & Sun", "<b>'\"*\\": "b", "12345": "",
		"a very long name of a merchant": "a very long name of a", "Café Zürich": "Caf Zrich", "日本": "",
	} {
		w.codes[cardToken] = securityCode
		w.opened(answer{status: http.StatusOK, body: `{"id": "pi_1", "status": "processing"}`})
		c := w.charge()
		c.Descriptor = text
		if _, err := w.gateway.Purchase(deadline(t), c); err != nil {
			t.Error(err)
		}
		f := w.last(openCall).form
		if f.Get("statement_descriptor_suffix") != want || f.Has("statement_descriptor_suffix") != (want != "") {
			t.Errorf("%q goes out as %v", text, f)
		}
	}
}
