package sandbox

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed" // for the page
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"
	"time"

	"holdfast/internal/domain/money"
	"holdfast/internal/psp"
)

// ChallengePath begins the path of a challenge. An account and a reference follow.
const ChallengePath = "/sandbox/challenge/"

//go:embed challenge.html
var pageText string

//go:embed challenge.css
var pageStyle string

var page = template.Must(template.New("challenge").Parse(pageText))

// policy allows the page its own style and nothing else. It does not forbid frames, because a challenge is shown
// inside the merchant's checkout. It does not restrict the form, because its answer leads to the merchant's address.
var policy = "default-src 'none'; base-uri 'none'; style-src 'sha256-" + digest(pageStyle) + "'"

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// shown is the data that the page shows.
type shown struct {
	Style    template.CSS
	Merchant string
	Amount   string
	LastFour string
	Back     string // the URL to return to after the challenge
	Open     bool
}

// Limits for one request.
const (
	answerBytes   = 4 << 10
	answerTimeout = 5 * time.Second
)

// Challenges serves the pages on which a shopper with a test card confirms or refuses a payment.
func (g *Gateway) Challenges() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+ChallengePath+"{account}/{reference}", g.show)
	mux.HandleFunc("POST "+ChallengePath+"{account}/{reference}", g.answer)
	return http.TimeoutHandler(mux, answerTimeout, "The bank's page timed out.")
}

func keyOf(r *http.Request) key { return key{r.PathValue("account"), r.PathValue("reference")} }

// look reads a charge. When there is none, none is made.
func (g *Gateway) look(ctx context.Context, at key) (found entry, err error) {
	err = g.change(ctx, at, func(e *entry) error {
		if found = *e; e.State == none {
			return errNotChallenged
		}
		return nil
	})
	return found, err
}

func (g *Gateway) show(w http.ResponseWriter, r *http.Request) {
	e, err := g.look(r.Context(), keyOf(r))
	if !answered(w, err) {
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", policy)
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer")
	// An error here means that the reader has disconnected.
	_ = page.Execute(w, shown{
		Style: template.CSS(pageStyle), Merchant: cmp.Or(e.Merchant, "the merchant"), Amount: money.Format(e.Amount, e.Currency) + " " + string(e.Currency),
		LastFour: e.Result.LastFour, Back: e.ReturnURL, Open: e.State == challenged,
	})
}

// answer takes the answer of the shopper, the first time only, and redirects to the address that the merchant gave.
func (g *Gateway) answer(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, answerBytes)
	choice := r.PostFormValue("answer")
	if choice != "approve" && choice != "refuse" {
		http.Error(w, "The answer must be approve or refuse.", http.StatusBadRequest)
		return
	}
	back := ""
	err := g.change(r.Context(), keyOf(r), func(e *entry) error {
		if e.State == none {
			return errNotChallenged
		}
		back = e.ReturnURL
		if e.State == challenged {
			e.pass(choice == "approve")
		}
		return nil
	})
	if answered(w, err) {
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, back, http.StatusSeeOther)
	}
}

// answered writes an error for the reader. It returns false when there was one.
func answered(w http.ResponseWriter, err error) bool {
	switch {
	case errors.Is(err, errNotChallenged):
		http.Error(w, "Challenge not found.", http.StatusNotFound)
	case err != nil:
		http.Error(w, "The bank cannot be reached. Try again.", http.StatusServiceUnavailable)
	}
	return err == nil
}

// pass ends a challenge: the shopper has confirmed or refused.
func (e *entry) pass(approved bool) {
	if !approved {
		e.authenticated(failed, challenge)
		e.decline(psp.DeclineNotAuthenticated)
		return
	}
	e.authenticated("authenticated", challenge)
	card, _ := CardOf(e.Token)
	e.conclude(conductOf(card, e.Amount))
}
