package client_test

import (
	"strings"
	"testing"
	"time"

	"holdfast/client"
	"holdfast/internal/platform/secrets"
)

// The test vector published for all languages.
const (
	secret = "example-channel-secret"
	vector = "bbba981afdcdc5064f72f535707b7eba3f521e5d19dc77c7b860c00204002bff20190812055213"
)

var stamped = time.Date(2019, 8, 12, 5, 52, 13, 0, time.UTC)

// list is an example of the modal's allocations.
type list []struct {
	Channels   int    `json:"channels"`
	Currencies string `json:"currencies"`
	Label      string `json:"label"`
	Total      int    `json:"total"`
}

func TestTheVector(t *testing.T) {
	for _, fields := range []client.Fields{
		{"total": 9999, "channels": 2, "currencies": "USD"},
		{"total": "9999", "channels": int64(2), "currencies": "USD"},
	} {
		got, err := client.AuthString(secret, fields, stamped.In(time.FixedZone("IST", 19800)))
		if got != vector || err != nil {
			t.Errorf("%v: %s, %v", fields, got, err)
		}
	}
}

func TestTheServiceTakesIt(t *testing.T) {
	got, err := client.AuthString(secret, client.Fields{
		"total": 9999, "channels": 2, "currencies": "USD", "surname": "D'Été & fils", "charge_channel": 7,
		"allocations": list{{7, "USD", "<Hotel & bar>", 100}},
	}, stamped)
	if err != nil {
		t.Fatal(err)
	}
	// As the frame sends it: JSON.stringify leaves everything as it is.
	fields := map[string]string{
		"total": "9999", "channels": "2", "currencies": "USD", "surname": "D'Été & fils", "charge_channel": "7",
		"allocations": `[{"channels":7,"currencies":"USD","label":"<Hotel & bar>","total":100}]`,
	}
	if err := secrets.CheckModalString(secret, fields, got, stamped.Add(15*time.Minute)); err != nil {
		t.Error(err)
	}
}

func TestWhatCannotBeVouchedFor(t *testing.T) {
	whole := func() client.Fields { return client.Fields{"total": 9999, "channels": 2, "currencies": "USD"} }
	check := func(why, secret string, fields client.Fields, want string) {
		t.Helper()
		if got, err := client.AuthString(secret, fields, stamped); got != "" || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", why, got, err)
		}
	}
	check("no secret", "", whole(), "secret")
	for name := range whole() {
		fields := whole()
		delete(fields, name)
		check("without "+name, secret, fields, name)
	}
	fields := whole()
	fields["total"] = 99.99
	check("an amount with a point", secret, fields, "whole number")
	fields = whole()
	fields["allocations"] = func() {}
	check("what JSON cannot say", secret, fields, "allocations")
}

// TestKeysOfAList: the order of keys, as documented at Fields.
func TestKeysOfAList(t *testing.T) {
	sorted, err := client.AuthString(secret, client.Fields{
		"channels": 2, "currencies": "USD", "total": 9999,
		"allocations": []map[string]any{{"total": 100, "channels": 7, "label": "a/b", "currencies": "USD"}},
	}, stamped)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]string{
		"total": "9999", "channels": "2", "currencies": "USD",
		"allocations": `[{"channels": 7, "currencies": "USD", "label": "a\/b", "total": 100}]`,
	}
	if err := secrets.CheckModalString(secret, fields, sorted, stamped); err != nil {
		t.Error(err)
	}
}
