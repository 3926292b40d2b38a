package sandbox

import (
	"context"
	"crypto/sha256"
	_ "embed" // of the page
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"
	"time"

	"holdfast/internal/money"
	"holdfast/internal/psp"
)

// ChallengePath is where the challenges are found; an account and a reference follow.
const ChallengePath = "/sandbox/challenge/"

//go:embed challenge.html
var pageText string

//go:embed challenge.css
var pageStyle string

var page = template.Must(template.New("challenge").Parse(pageText))

// policy lets the page have its own style and nothing else. It says nothing of frames, as banks do not: a challenge is
// shown inside the merchant's checkout; and nothing of where its form may lead, which is the merchant's address.
var policy = "default-src 'none'; base-uri 'none'; style-src 'sha256-" + digest(pageStyle) + "'"

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// shown is what the page tells.
type shown struct {
	Style    template.CSS
	Merchant string
	Amount   string
	LastFour string
	Back     string // where to go when there is nothing to answer any more
	Open     bool
}

// The bounds of one answer.
const (
	answerBytes   = 4 << 10
	answerTimeout = 5 * time.Second
)

// Challenges serves the pages on which the cardholder of a test card proves, or not, who they are.
func (g *Gateway) Challenges() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+ChallengePath+"{account}/{reference}", g.show)
	mux.HandleFunc("POST "+ChallengePath+"{account}/{reference}", g.answer)
	return http.TimeoutHandler(mux, answerTimeout, "The bank's page took too long.")
}

func keyOf(r *http.Request) key { return key{r.PathValue("account"), r.PathValue("reference")} }

// look reads a charge without leaving a trace where there is none.
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
	merchant := e.Descriptor
	if merchant == "" {
		merchant = "the merchant"
	}
	// An error here is a reader who has gone.
	_ = page.Execute(w, shown{
		Style: template.CSS(pageStyle), Merchant: merchant, Amount: money.Format(e.Amount, e.Currency) + " " + string(e.Currency),
		LastFour: e.Result.LastFour, Back: e.ReturnURL, Open: e.State == challenged,
	})
}

// answer takes what the cardholder said, once, and sends them back to where they came from.
func (g *Gateway) answer(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, answerBytes)
	choice := r.PostFormValue("answer")
	if choice != "approve" && choice != "refuse" {
		http.Error(w, "The answer is approve or refuse.", http.StatusBadRequest)
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

// answered tells the reader what went wrong; it is false where something did.
func answered(w http.ResponseWriter, err error) bool {
	switch {
	case errors.Is(err, errNotChallenged):
		http.Error(w, "There is no such challenge.", http.StatusNotFound)
	case err != nil:
		http.Error(w, "The bank cannot be reached. Try again.", http.StatusServiceUnavailable)
	}
	return err == nil
}

// pass ends a challenge.
func (e *entry) pass(approved bool) {
	if !approved {
		e.authenticated(failed, challenge)
		e.decline(psp.DeclineNotAuthenticated)
		return
	}
	e.authenticated("authenticated", challenge)
	card, _ := CardOf(e.Token)
	e.settle(conductOf(card, e.Amount))
}
