// Package checkout is an example checkout page with the payment modal: a fictional travel shop with one trip, which the
// demo serves. This Go code does what a merchant's server does, using the Go client. Above all it creates the auth string, because the merchant's
// secret must never reach the browser. assets/page.js does what a merchant's page does. Start reading at New.
package checkout

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // embeds the page, its style and its script
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"holdfast/client"
	"holdfast/internal/book/onboarding"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
)

// Path is the address of the shop.
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
	Scheme string // name of the scheme
	What   string // outcome of the card: "is approved"
	Group  string // title of its group on the page
}

// Outcome is the result of the payment of a booking.
type Outcome struct {
	Booking     int64  `json:"booking"`
	Transaction int64  `json:"transaction"` // ID of the last attempt; 0 if none
	Status      string `json:"status"`      // status of this transaction
	Content     string `json:"content"`
}

// Config is what the shop knows about the payment service.
type Config struct {
	Merchant  string // also the shop's name in the modal
	Site      string // the site's path
	Channel   int64
	Script    string // URL of the modal's script
	Integrity string // the script's integrity attribute
	Cards     []Card
	API       *client.Client // acts as the merchant; for the site's clock and for payment outcomes
	// Channels has the merchant's secret, which a real shop has in its configuration. It is read for each order, so that a
	// rotated secret takes effect immediately.
	Channels *onboarding.Channels
	As       access.Actor // reads the secret
}

// Shop serves the checkout page.
type Shop struct {
	Config
	secret func(ctx context.Context) (string, error) // channelSecret; tests have a merchant without a database
	page   *template.Template
	policy string
	mux    *http.ServeMux
}

// New returns the shop.
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
	s.secret = s.channelSecret
	s.mux.HandleFunc("GET "+Path, s.show)
	s.mux.HandleFunc("POST "+Path+"/quote", s.quote)
	s.mux.HandleFunc("GET "+Path+"/outcome", s.outcome)
	s.mux.Handle("GET "+Path+"/page.css", asset("text/css; charset=utf-8", pageStyle))
	s.mux.Handle("GET "+Path+"/page.js", asset("text/javascript; charset=utf-8", pageScript))
	return s, nil
}

// policyOf returns the page's content security policy: its own files, and the payment service's script and frame. A merchant
// with an existing policy only adds these two.
func policyOf(service string) string {
	return "default-src 'none'; script-src 'self' " + service + "; style-src 'self'; connect-src 'self'; img-src 'self'; frame-src " + service +
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

// show serves the page. The modal's options are in the URL, so that every choice has a link.
func (s *Shop) show(w http.ResponseWriter, r *http.Request) {
	now, err := s.now(r.Context())
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
		http.Error(w, "The page could not be loaded.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", s.policy)
	_, _ = text.WriteTo(w) // an error means that the client has disconnected
}

// quoteBytes is the maximum size of an order.
const quoteBytes = 4 << 10

// quote computes and signs the price of an order. The browser sends what the customer wants, but never the price.
func (s *Shop) quote(w http.ResponseWriter, r *http.Request) {
	var in order
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, quoteBytes))
	if err == nil {
		err = json.Unmarshal(text, &in)
	}
	if err != nil || !in.valid() {
		http.Error(w, "Trip not found.", http.StatusBadRequest)
		return
	}
	now, err := s.now(r.Context())
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

// outcome returns the result of a payment whose callback the page missed.
func (s *Shop) outcome(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.URL.Query().Get("booking"), 10, 64)
	if err != nil || id <= 0 {
		http.Error(w, "Booking not found.", http.StatusNotFound)
		return
	}
	found, err := s.find(r.Context(), id)
	if err != nil {
		http.Error(w, "The booking was not found or could not be loaded.", http.StatusNotFound)
		return
	}
	answer(w, found)
}

func answer(w http.ResponseWriter, with any) {
	text, err := json.Marshal(with)
	if err != nil {
		http.Error(w, "The response could not be created.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // an error means that the client has disconnected
}

func unreachable(w http.ResponseWriter) {
	http.Error(w, "The shop is unavailable. Try again.", http.StatusServiceUnavailable)
}

// asset serves a file of the page. The ETag is a digest, so browsers do not reload unchanged files.
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

// Price is an amount formatted for the page.
func Price(minor int64, c money.Currency) string {
	text, symbol := money.Format(minor, c), c.Symbol()
	if symbol.Template[0] == '1' {
		return text + " " + symbol.Grapheme
	}
	return symbol.Grapheme + text
}
