package checkout

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"holdfast/client"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
)

// trip is the trip on sale, on its next date.
type trip struct {
	Name    string
	Place   string
	Country string // ISO 3166-1
	Nights  int
	Start   civil.Day
	End     civil.Day
}

// ahead is how many days in advance a trip must be booked.
const ahead = 60

// tripFrom returns the next trip, which starts on a Saturday.
func tripFrom(today civil.Day) trip {
	start := today + ahead
	for start.Start().Weekday() != time.Saturday {
		start++
	}
	t := trip{Name: "Lofoten in seven nights", Place: "Reine and Henningsvær, Norway", Country: "NO", Nights: 7, Start: start}
	t.End = start + civil.Day(t.Nights)
	return t
}

// Dates formats the dates of the trip.
func (t trip) Dates() string {
	return t.Start.Start().Format("Monday 2 January") + " to " + t.End.Start().Format("Monday 2 January 2006")
}

// prices are the prices per traveller, in minor units. GBP is the merchant's currency, which all of its bookings must have.
// EUR shows the modal's error for the wrong currency.
var prices = map[money.Currency]int64{"GBP": 124_000, "EUR": 144_500}

// mostTravellers is the maximum number of travellers per order.
const mostTravellers = 6

// order is the customer's choice.
type order struct {
	Travellers int            `json:"travellers"`
	Currency   money.Currency `json:"currency"`
}

func (o order) valid() bool {
	_, sold := prices[o.Currency]
	return sold && o.Travellers >= 1 && o.Travellers <= mostTravellers
}

// Quote is an order with its price and its auth string.
type Quote struct {
	Travellers  int            `json:"travellers"`
	Currency    money.Currency `json:"currencies"`
	Total       int64          `json:"total"`
	Each        string         `json:"each"`  // price per traveller, formatted
	Price       string         `json:"price"` // total price, formatted
	Channel     int64          `json:"channels"`
	Country     string         `json:"country"`
	Start       string         `json:"date_start"`
	End         string         `json:"date"`
	Description string         `json:"description"`
	Auth        string         `json:"booking_auth"`
}

// Verified are the fields that the auth string verifies in addition to the three it always verifies.
var Verified = []string{"country", "date"}

// quoteOf computes the price of an order and creates its auth string, with the secret that only the server has.
func (s *Shop) quoteOf(ctx context.Context, t trip, o order) (Quote, error) {
	total := prices[o.Currency] * int64(o.Travellers)
	q := Quote{
		Travellers: o.Travellers, Currency: o.Currency, Total: total, Each: Price(prices[o.Currency], o.Currency),
		Price: Price(total, o.Currency), Channel: s.Channel, Country: t.Country, Start: t.Start.String(), End: t.End.String(),
		Description: fmt.Sprintf("%s, %s", t.Name, t.Place),
	}
	var err error
	q.Auth, err = s.sign(ctx, client.Fields{
		"channels": q.Channel, "currencies": string(q.Currency), "total": q.Total, "country": q.Country, "date": q.End,
	})
	return q, err
}

// Verify lists the verified fields for the page.
func (s *Shop) Verify() string { return strings.Join(Verified, " ") }

// selection holds the modal's options. A merchant chooses them once; here visitors can try all of them.
type selection struct {
	Variant, SDK, Type, Language string
	Currency                     money.Currency
}

// choice is one value of an option, with its name.
type choice struct{ Value, Name string }

// choices are all values of the options. The first is the default.
type choices struct {
	Variants, SDKs, Types, Languages, Currencies []choice
}

var allChoices = choices{
	Variants:   []choice{{"form", "Form inputs"}, {"data", "Data object"}},
	SDKs:       []choice{{"tmtPaymentModalSdk", "tmtPaymentModalSdk"}, {"holdfastPaymentModalSdk", "holdfastPaymentModalSdk"}},
	Types:      []choice{{"purchase", "purchase"}, {"authorize", "authorize"}},
	Languages:  languages(),
	Currencies: []choice{{"GBP", "GBP"}, {"EUR", "EUR, not the merchant’s currency"}},
}

// languageNames are the names of the languages, each in its own language.
var languageNames = map[string]string{
	"enGB": "English", "deDE": "Deutsch", "esES": "Español", "frFR": "Français", "itIT": "Italiano", "jaJA": "日本語",
	"kkKK": "Қазақша", "koKO": "한국어", "lvLV": "Latviešu", "ptBR": "Português", "roRO": "Română", "ruRU": "Русский",
	"ukUK": "Українська", "uzUZ": "Oʻzbekcha", "zhZH": "中文",
}

func languages() (list []choice) {
	for _, code := range check.Languages {
		list = append(list, choice{code, languageNames[code]})
	}
	return list
}

// optionsOf reads the options from a URL. Unknown values are replaced by the default.
func optionsOf(query url.Values) selection {
	pick := func(name string, of []choice) string {
		wanted := query.Get(name)
		if slices.ContainsFunc(of, func(c choice) bool { return c.Value == wanted }) {
			return wanted
		}
		return of[0].Value
	}
	return selection{
		Variant: pick("variant", allChoices.Variants), SDK: pick("sdk", allChoices.SDKs), Type: pick("type", allChoices.Types),
		Language: pick("language", allChoices.Languages), Currency: money.Currency(pick("currency", allChoices.Currencies)),
	}
}

// deck is a group of test cards.
type deck struct {
	Name  string
	Cards []Card
}

// decksOf groups the cards, in the order in which the groups first appear.
func decksOf(cards []Card) (decks []deck) {
	for _, c := range cards {
		at := slices.IndexFunc(decks, func(d deck) bool { return d.Name == c.Group })
		if at < 0 {
			decks, at = append(decks, deck{Name: c.Group}), len(decks)
		}
		decks[at].Cards = append(decks[at].Cards, c)
	}
	return decks
}

// spaced formats a card number with spaces, as on the card.
func spaced(number string) string {
	if len(number) == 15 {
		return number[:4] + " " + number[4:10] + " " + number[10:]
	}
	var groups []string
	for group := range slices.Chunk([]byte(number), 4) {
		groups = append(groups, string(group))
	}
	return strings.Join(groups, " ")
}
