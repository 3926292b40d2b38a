package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdfast/internal/book/merchants"
	"holdfast/internal/book/onboarding"
	"holdfast/internal/domain/access"
	"holdfast/internal/psp/sandbox"
)

// atTheProcessor runs a directive about the processor, and reports whether it was one.
func (k *talk) atTheProcessor(t *testing.T, words []string) bool {
	t.Helper()
	switch {
	case len(words) == 2 && words[0] == "@gateway":
		channel, err := strconv.ParseInt(words[1], 10, 64)
		must(t, err)
		k.world.takePayments(t, channel)
	case len(words) == 2 && words[0] == "@patience":
		patience, err := time.ParseDuration(words[1])
		must(t, err)
		k.world.app.Payments.Settings.CallTimeout = patience
	case len(words) == 2 && words[0] == "@bank":
		k.kept["back"] = k.world.answerChallenge(t, k.challenge, words[1])
	case len(words) == 1 && words[0] == "@ask":
		k.world.ask(t)
	default:
		return false
	}
	return true
}

// takePayments sets a channel up to take payments at the sandbox processor.
func (w *world) takePayments(t *testing.T, channel int64) {
	t.Helper()
	_, err := w.app.Channels.SetGateway(t.Context(), access.System(1), channel, onboarding.GatewayFields{
		Processor: sandbox.Name, Credentials: merchants.Credentials{Key: "a-key-of-the-sandbox"},
	})
	must(t, err)
}

// answerChallenge is a shopper on the bank's page. It returns the URL to which the bank redirects the shopper.
func (w *world) answerChallenge(t *testing.T, challenge, answer string) string {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, challenge, strings.NewReader("answer="+answer))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	recorder := httptest.NewRecorder()
	w.bank.Challenges().ServeHTTP(recorder, r)
	if recorder.Code != http.StatusSeeOther {
		t.Fatalf("the bank answers %d to %s", recorder.Code, answer)
	}
	return recorder.Header().Get("Location")
}

// ask runs the jobs that call processors until nothing is left.
func (w *world) ask(t *testing.T) {
	t.Helper()
	for _, run := range []func(context.Context) (bool, error){
		w.app.Disputes.Reconcile, w.app.Notices.Poll, w.app.Notices.Follow,
	} {
		for more := true; more; {
			var err error
			more, err = run(t.Context())
			must(t, err)
		}
	}
}

func (k *talk) noteChallenge(answered []byte) {
	var answer struct {
		Response struct{ Value string } `json:"3ds_response"`
	}
	if json.Unmarshal(answered, &answer) == nil && answer.Response.Value != "" {
		k.challenge = answer.Response.Value
	}
}
