package dispute

import (
	"cmp"
	"slices"
	"strings"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
)

// Rule says how a case was matched (R14), in the order in which the rules are tried.
type Rule string

// The rules.
const (
	ByTransaction        Rule = "transaction" // the report names the chargeback or the payment
	ByAcquirerReference  Rule = "acquirer_reference"
	ByProcessorReference Rule = "processor_reference"
	ByPaymentReference   Rule = "payment_reference"
	ByScore              Rule = "score"
	ByPerson             Rule = "person" // with a reason
)

// Matching says whether the payment of a case is known.
type Matching string

// The states of matching.
const (
	Matched   Matching = "matched"
	Queued    Matching = "queue"     // a person chooses from the candidates
	Unmatched Matching = "unmatched" // no payment fits; each later payment is tried
)

// Matchings lists the states of matching.
var Matchings = []Matching{Matched, Queued, Unmatched}

// The points of R14, and the score and lead at which a candidate is accepted.
const (
	pointsAuthCode, pointsLastFour, pointsBIN           = 40, 20, 15
	pointsAmount, pointsPart, pointsDay, pointsNearDays = 15, 8, 10, 5
	nearDays                                            = 3
	acceptedAt, lead                                    = 80, 15
)

// MostCandidates is how many candidates of a case are kept.
const MostCandidates = 20

// Candidate is a payment that a dispute may be about.
type Candidate struct {
	TransactionID int64
	ChannelID     int64
	Currency      money.Currency
	Total         int64
	BaseCurrency  money.Currency
	BaseTotal     int64
	AuthCode      string
	LastFour      string
	BIN           string
	Scheme        string // as in R5
	PaidOn        civil.Day
	Points        Points
}

// Points are the parts of a score: one for each clue that agrees.
type Points struct {
	AuthCode int `json:"auth_code"`
	LastFour int `json:"last_four_digits"`
	BIN      int `json:"bin_number"`
	Amount   int `json:"amount"`
	Day      int `json:"day"`
}

// Sum is the score.
func (p Points) Sum() int { return p.AuthCode + p.LastFour + p.BIN + p.Amount + p.Day }

// Score gives the points of a candidate (R14).
func Score(r Report, c Candidate) (p Points) {
	clues := r.Clues
	if sameText(clues.AuthCode, c.AuthCode) {
		p.AuthCode = pointsAuthCode
	}
	if sameText(clues.LastFour, c.LastFour) {
		p.LastFour = pointsLastFour
	}
	if n := min(len(clues.BIN), len(c.BIN)); n >= 6 && clues.BIN[:n] == c.BIN[:n] {
		p.BIN = pointsBIN
	}
	switch {
	case c.costs(clues.PaidAmount, clues.PaidCurrency), c.costs(r.Amount, r.Currency):
		p.Amount = pointsAmount
	case c.hasPart(r.Amount, r.Currency):
		p.Amount = pointsPart
	}
	if clues.PaidOn == civil.NoDay {
		return p
	}
	switch apart := clues.PaidOn - c.PaidOn; {
	case apart == 0:
		p.Day = pointsDay
	case apart >= -nearDays && apart <= nearDays:
		p.Day = pointsNearDays
	}
	return p
}

func sameText(clue, paid string) bool { return clue != "" && strings.EqualFold(clue, paid) }

// costs reports whether an amount is that of the payment, in its own currency or in the base currency.
func (c Candidate) costs(amount int64, currency money.Currency) bool {
	return amount > 0 && (currency == c.Currency && amount == c.Total || currency == c.BaseCurrency && amount == c.BaseTotal)
}

func (c Candidate) hasPart(amount int64, currency money.Currency) bool {
	return amount > 0 && (currency == c.Currency && amount < c.Total || currency == c.BaseCurrency && amount < c.BaseTotal)
}

// fits reports whether a payment is a candidate: the last four digits of the card agree, and the auth code, the amount or the day.
func (p Points) fits() bool {
	return p.LastFour > 0 && (p.AuthCode > 0 || p.Amount == pointsAmount || p.Day == pointsDay)
}

// Choose scores payments and returns the candidates among them, the best first, those with equal points by id. accepted reports whether the
// first one is the payment: it has at least 80 points, and 15 more than the next.
func Choose(r Report, list []Candidate) (ranked []Candidate, accepted bool) {
	for _, c := range list {
		if c.Points = Score(r, c); c.Points.fits() {
			ranked = append(ranked, c)
		}
	}
	slices.SortFunc(ranked, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Points.Sum(), a.Points.Sum()), cmp.Compare(a.TransactionID, b.TransactionID))
	})
	if len(ranked) == 0 || ranked[0].Points.Sum() < acceptedAt {
		return ranked, false
	}
	return ranked, len(ranked) == 1 || ranked[0].Points.Sum()-ranked[1].Points.Sum() >= lead
}
