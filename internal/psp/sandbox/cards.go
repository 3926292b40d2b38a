package sandbox

import "holdfast/internal/psp"

// Card is a test card. Its number is public: no bank issues it.
type Card struct {
	Number   string
	Token    string // replaces the number in a request
	Scheme   string
	BIN      string
	LastFour string
	What     string // what happens to a payment with it, in words
	does     conduct
}

// conduct is the processor's behaviour for a card or an amount. The zero value approves the payment.
type conduct struct {
	decline   psp.Decline
	authentic string   // the result of an authentication: frictionless (""), challenge, attempted, unavailable, failed
	required  bool     // the bank accepts no payment without authentication
	silent    bool     // the request is lost
	mute      bool     // the request is carried out, and the answer is lost
	dispute   disputed // what the cardholder does later
}

// disputed says whether the cardholder charges the payment back, and how the dispute ends.
type disputed int

const (
	undisputed disputed = iota
	charged
	chargedAndWon
)

// The results of an authentication.
const (
	challenge   = "challenge"
	attempted   = "attempted"
	unavailable = "unavailable"
	failed      = "failed"
)

// Cards are the test cards, in the order in which they are shown.
var Cards = []Card{
	card("4242424242424242", "tok_visa", "visa", "is approved", conduct{}),
	card("5555555555554444", "tok_mastercard", "mastercard", "is approved", conduct{}),
	card("378282246310005", "tok_amex", "amex", "is approved", conduct{}),
	card("6011111111111117", "tok_discover", "discover", "is approved", conduct{}),
	card("3056930009020004", "tok_diners", "diners", "is approved", conduct{}),
	card("3566002020360505", "tok_jcb", "jcb", "is approved", conduct{}),
	card("6200000000000005", "tok_unionpay", "unionpay", "is approved", conduct{}),
	card("4000000000000002", "tok_declined", "visa", "is declined without a reason", conduct{decline: psp.DeclineGeneric}),
	card("4000000000009995", "tok_declined_funds", "visa", "has insufficient funds", conduct{decline: psp.DeclineFunds}),
	card("4000000000000069", "tok_declined_expired", "visa", "has expired", conduct{decline: psp.DeclineExpired}),
	card("4000000000000127", "tok_declined_code", "visa", "has an incorrect security code", conduct{decline: psp.DeclineCode}),
	card("4000000000009987", "tok_declined_lost", "visa", "was lost", conduct{decline: psp.DeclineLost}),
	card("4000000000009979", "tok_declined_stolen", "visa", "was stolen", conduct{decline: psp.DeclineStolen}),
	card("4100000000000019", "tok_declined_fraud", "visa", "is declined as suspected fraud", conduct{decline: psp.DeclineFraud}),
	card("4000000000006975", "tok_declined_limit", "visa", "is over its limit", conduct{decline: psp.DeclineLimit}),
	card("4000000000000119", "tok_declined_processing", "visa", "fails with a processing error", conduct{decline: psp.DeclineProcessor}),
	card("4000000000003055", "tok_3ds_frictionless", "visa", "is authenticated without a challenge", conduct{}),
	card("4000002760003184", "tok_3ds_challenge", "visa", "is challenged", conduct{authentic: challenge, required: true}),
	card("5200000000001096", "tok_3ds_challenge_mastercard", "mastercard", "is challenged",
		conduct{authentic: challenge, required: true}),
	card("4000008400001629", "tok_3ds_refused", "visa", "fails authentication", conduct{authentic: failed, required: true}),
	card("4000008400001280", "tok_3ds_declined", "visa", "is challenged, then declined",
		conduct{authentic: challenge, required: true, decline: psp.DeclineGeneric}),
	card("4000000000003253", "tok_3ds_attempted", "visa", "belongs to a bank that does not support authentication",
		conduct{authentic: attempted}),
	card("4000000000003097", "tok_3ds_unavailable", "visa", "cannot be authenticated at the moment",
		conduct{authentic: unavailable}),
	card("4000000000005126", "tok_timeout", "visa", "gets no response, and nothing happens", conduct{silent: true}),
	card("4000000000007726", "tok_answer_lost", "visa", "is approved, but the response is lost", conduct{mute: true}),
	card("4000000000000259", "tok_chargeback", "visa", "is approved, then charged back three days later",
		conduct{dispute: charged}),
	card("4000000000002685", "tok_chargeback_won", "visa",
		"is approved, charged back three days later, and reversed seven days after that", conduct{dispute: chargedAndWon}),
}

// amounts are amounts in minor units that determine the outcome, whatever the card.
var amounts = map[int64]conduct{
	400_001: {decline: psp.DeclineGeneric},
	400_002: {decline: psp.DeclineFunds},
	400_003: {decline: psp.DeclineExpired},
	400_004: {decline: psp.DeclineCode},
	400_005: {silent: true},
	400_006: {mute: true},
	400_007: {dispute: charged},
}

func card(number, token, scheme, what string, does conduct) Card {
	return Card{
		Number: number, Token: token, Scheme: scheme, BIN: number[:6], LastFour: number[len(number)-4:], What: what, does: does,
	}
}

// CardOf returns the test card of a token. ok is false when no card has the token.
func CardOf(token string) (card Card, ok bool) {
	for _, c := range Cards {
		if c.Token == token {
			return c, true
		}
	}
	return Card{}, false
}

// conductOf is the processor's behaviour for an amount on a card.
func conductOf(c Card, amount int64) conduct {
	if by, ok := amounts[amount]; ok {
		return by
	}
	return c.does
}

// messages say in words why money was refused.
var messages = map[psp.Decline]string{
	psp.DeclineGeneric:          "The bank declined the payment.",
	psp.DeclineFunds:            "The card has insufficient funds.",
	psp.DeclineExpired:          "The card has expired.",
	psp.DeclineCode:             "The security code is wrong.",
	psp.DeclineLost:             "The card was reported lost.",
	psp.DeclineStolen:           "The card was reported stolen.",
	psp.DeclineFraud:            "The bank suspects fraud.",
	psp.DeclineLimit:            "The card is over its limit.",
	psp.DeclineProcessor:        "An error occurred while processing the card.",
	psp.DeclineAuthenticate:     "The bank requires the cardholder to authenticate.",
	psp.DeclineNotAuthenticated: "The cardholder could not be authenticated.",
	psp.DeclineAbandoned:        "The authentication was not completed.",
}
