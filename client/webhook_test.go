package client_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdfast/client"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const (
	oneSecret     = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	anotherSecret = "whsec_c2Vjb25kIHNlY3JldCBvZiBhIHRlc3Q="
)

// signed makes the headers with the library of Standard Webhooks, one signature for each secret.
func signed(t *testing.T, id string, at time.Time, body string, secrets ...string) http.Header {
	t.Helper()
	var list []string
	for _, secret := range secrets {
		hook, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		signature, err := hook.Sign(id, at, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, signature)
	}
	h := http.Header{}
	h.Set("webhook-id", id)
	h.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	h.Set("webhook-signature", strings.Join(list, " "))
	return h
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 10, 20, 30, 0, time.UTC)
	const body = `{"type":"booking.created"}`
	good := signed(t, "msg_1", at, body, oneSecret)
	without := func(name string) http.Header {
		h := good.Clone()
		h.Del(name)
		return h
	}
	with := func(name, value string) http.Header {
		h := good.Clone()
		h.Set(name, value)
		return h
	}
	for _, c := range []struct {
		name    string
		secrets []string
		header  http.Header
		body    string
		now     time.Time
		want    string // a part of the error; "" for none
	}{
		{"as sent", []string{oneSecret}, good, body, at, ""},
		{"signed with both secrets", []string{anotherSecret}, signed(t, "msg_1", at, body, oneSecret, anotherSecret), body, at, ""},
		{"either secret known", []string{anotherSecret, oneSecret}, good, body, at, ""},
		{"four minutes late", []string{oneSecret}, good, body, at.Add(4 * time.Minute), ""},
		{"six minutes late", []string{oneSecret}, good, body, at.Add(6 * time.Minute), "five minutes"},
		{"six minutes early", []string{oneSecret}, good, body, at.Add(-6 * time.Minute), "five minutes"},
		{"another secret", []string{anotherSecret}, good, body, at, "no signature"},
		{"no secret", nil, good, body, at, "without a secret"},
		{"an empty secret", []string{"whsec_"}, good, body, at, "base64"},
		{"a secret that is none", []string{"whsec_???"}, good, body, at, "base64"},
		{"another body", []string{oneSecret}, good, body + " ", at, "no signature"},
		{"another id", []string{oneSecret}, with("webhook-id", "msg_2"), body, at, "no signature"},
		{"another time", []string{oneSecret}, with("webhook-timestamp", strconv.FormatInt(at.Unix()+1, 10)), body, at, "no signature"},
		{"no time", []string{oneSecret}, with("webhook-timestamp", "soon"), body, at, "seconds"},
		{"another version", []string{oneSecret}, with("webhook-signature", "v2"+good.Get("webhook-signature")[2:]), body, at, "no signature"},
		{"without id", []string{oneSecret}, without("webhook-id"), body, at, "headers"},
		{"without time", []string{oneSecret}, without("webhook-timestamp"), body, at, "headers"},
		{"without signature", []string{oneSecret}, without("webhook-signature"), body, at, "headers"},
	} {
		err := client.VerifyWebhook(c.secrets, c.header, []byte(c.body), c.now)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
