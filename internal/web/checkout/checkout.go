// Package checkout is a merchant's checkout page as somebody would build it who adds the payment modal to a shop: a made-up
// travel shop with one trip, which the demo serves. What a merchant's server does is here in Go, above all the auth string:
// the channel's secret never gets into the browser. What a merchant's page does is in assets/page.js.
package checkout

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // for the page, its style and its script
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/money"
)

// Path is where the shop is found.
const Path = "/checkout"

//go:embed page.html
var pageText string

//go:embed assets/page.css
var pageStyle []byte

//go:embed assets/page.js
var pageScript []byte

// Card is a test card that the page offers.
type Card struct {
	Number string
	Scheme string
	What   string // it does: "The card is approved"
	Group  string // under which it is shown
}

// Outcome is what became of the payment of a booking.
type Outcome struct {
	Booking     int64  `json:"booking"`
	Transaction int64  `json:"transaction"` // the last attempt; 0 where there was none
	Status      string `json:"status"`      // of the transaction
	Content     string `json:"content"`
}

// Config is what the shop knows of the payment service.
type Config struct {
	Site      string // path of the site
	Channel   int64
	Script    string // address of the modal's script
	Integrity string // of the script
	Cards     []Card
	// Now is the time by the site's clock.
	Now func(ctx context.Context) (time.Time, error)
	// Sign makes the auth string of the values with the channel's secret.
	Sign func(ctx context.Context, values map[string]string) (string, error)
	// Outcome finds out what became of a booking's payment, as after a time-out: the booking, the last of its transactions.
	Outcome func(ctx context.Context, booking int64) (Outcome, error)
}

// Shop serves the checkout page.
type Shop struct {
	Config
	page   *template.Template
	policy string
	mux    *http.ServeMux
}

// New makes the shop.
func New(cfg Config) (*Shop, error) {
	script, err := url.Parse(cfg.Script)
	if err != nil {
		return nil, fmt.Errorf("the address of the modal's script: %w", err)
	}
	page, err := template.New("checkout").Funcs(template.FuncMap{"spaced": spaced}).Parse(pageText)
	if err != nil {
		return nil, fmt.Errorf("the template of the checkout page: %w", err)
	}
	s := &Shop{Config: cfg, page: page, policy: policyOf(script.Scheme + "://" + script.Host), mux: http.NewServeMux()}
	s.mux.HandleFunc("GET "+Path, s.show)
	s.mux.HandleFunc("POST "+Path+"/quote", s.quote)
	s.mux.HandleFunc("GET "+Path+"/outcome", s.outcome)
	s.mux.Handle("GET "+Path+"/page.css", asset("text/css; charset=utf-8", pageStyle))
	s.mux.Handle("GET "+Path+"/page.js", asset("text/javascript; charset=utf-8", pageScript))
	return s, nil
}

// policyOf is the page's policy: its own files, and of the payment service the script and the frame. A merchant with a
// policy of their own adds just these two.
func policyOf(service string) string {
	return "default-src 'none'; script-src 'self' " + service + "; style-src 'self'; connect-src 'self'; frame-src " + service +
		"; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
}

// ServeHTTP implements http.Handler.
func (s *Shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "strict-origin-when-cross-origin")
	h.Set("Cache-Control", "no-store")
	s.mux.ServeHTTP(w, r)
}

// show answers with the page. What can be chosen about the modal is in the address, so that every choice can be kept as
// a link.
func (s *Shop) show(w http.ResponseWriter, r *http.Request) {
	now, err := s.Now(r.Context())
	if err != nil {
		unreachable(w)
		return
	}
	options := optionsOf(r.URL.Query())
	next := tripFrom(civil.DayOf(now))
	first, err := s.quoteOf(r.Context(), next, order{Travellers: 2, Currency: options.Currency})
	if err != nil {
		unreachable(w)
		return
	}
	var text bytes.Buffer
	err = s.page.Execute(&text, struct {
		*Shop
		Options selection
		Choices choices
		Trip    trip
		Quote   Quote
		Decks   []deck
	}{s, options, allChoices, next, first, decksOf(s.Cards)})
	if err != nil {
		http.Error(w, "The page cannot be made.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", s.policy)
	_, _ = text.WriteTo(w) // an error here is a reader who has gone
}

// quoteBytes is more than any order has.
const quoteBytes = 4 << 10

// quote prices an order and signs for it. The browser says what the customer wants, never what it costs.
func (s *Shop) quote(w http.ResponseWriter, r *http.Request) {
	var in order
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, quoteBytes))
	if err == nil {
		err = json.Unmarshal(text, &in)
	}
	if err != nil || !in.valid() {
		http.Error(w, "There is no such trip.", http.StatusBadRequest)
		return
	}
	now, err := s.Now(r.Context())
	if err != nil {
		unreachable(w)
		return
	}
	made, err := s.quoteOf(r.Context(), tripFrom(civil.DayOf(now)), in)
	if err != nil {
		unreachable(w)
		return
	}
	answer(w, made)
}

// outcome tells what became of a payment that the page lost sight of.
func (s *Shop) outcome(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.URL.Query().Get("booking"), 10, 64)
	if err != nil || id <= 0 {
		http.Error(w, "There is no such booking.", http.StatusNotFound)
		return
	}
	found, err := s.Outcome(r.Context(), id)
	if err != nil {
		http.Error(w, "There is no such booking, or it cannot be looked up.", http.StatusNotFound)
		return
	}
	answer(w, found)
}

func answer(w http.ResponseWriter, with any) {
	text, err := json.Marshal(with)
	if err != nil {
		http.Error(w, "The answer cannot be made.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // an error here is a reader who has gone
}

func unreachable(w http.ResponseWriter) {
	http.Error(w, "The shop cannot be reached. Try again.", http.StatusServiceUnavailable)
}

// asset serves a file of the page; the digest spares the browser what it has.
func asset(kind string, text []byte) http.Handler {
	sum := sha256.Sum256(text)
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
	})
}

// Price is an amount as the page writes it.
func Price(minor int64, c money.Currency) string {
	text, symbol := money.Format(minor, c), c.Symbol()
	if symbol.Template[0] == '1' {
		return text + " " + symbol.Grapheme
	}
	return symbol.Grapheme + text
}
