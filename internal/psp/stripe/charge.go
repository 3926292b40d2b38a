package stripe

import (
	"context"
	"errors"
	"strings"

	"holdfast/internal/psp"
	"holdfast/internal/psp/tokenizer"

	stripe "github.com/stripe/stripe-go/v85"
)

// Authorize implements psp.Gateway.
func (g *Gateway) Authorize(ctx context.Context, c psp.Charge) (psp.Result, error) {
	return g.charge(ctx, c, stripe.PaymentIntentCaptureMethodManual)
}

// Purchase implements psp.Gateway.
func (g *Gateway) Purchase(ctx context.Context, c psp.Charge) (psp.Result, error) {
	return g.charge(ctx, c, stripe.PaymentIntentCaptureMethodAutomatic)
}

func (g *Gateway) charge(ctx context.Context, c psp.Charge, capture stripe.PaymentIntentCaptureMethod) (psp.Result, error) {
	if err := g.Check(c.Account); err != nil {
		return psp.Result{}, err
	}
	amount, err := toProcessor(c.Amount, c.Currency)
	if err != nil {
		return psp.Result{}, err
	}
	card, err := cardOf(c)
	if err != nil {
		return psp.Result{}, err
	}
	client := g.client(c.Account)
	intent, err := open(ctx, client, c, amount, capture)
	if err != nil {
		e, _ := verdict(err)
		return psp.Result{}, e
	}
	// For a reference that the processor knows it repeats its first answer: read the present state.
	if intent.LastResponse.Header.Get("Idempotent-Replayed") == "true" {
		now, err := retrieve(ctx, client, intent.ID)
		if err != nil {
			return unknown(intent.ID, err), nil
		}
		if !unconfirmed(now) {
			return outcome(now), nil
		}
	}
	method, err := attach(ctx, client, card)
	if err != nil {
		return refusedCard(err)
	}
	confirmed, err := confirm(ctx, client, c, intent.ID, method)
	if err != nil {
		return failed(ctx, client, intent.ID, err)
	}
	return outcome(confirmed), nil
}

// open makes the intent, which moves no money. Its idempotency key is our reference, and its parameters come from the
// payment alone: a second call gets the same intent.
func open(
	ctx context.Context, client *stripe.Client, c psp.Charge, amount int64, capture stripe.PaymentIntentCaptureMethod,
) (*stripe.PaymentIntent, error) {
	p := &stripe.PaymentIntentCreateParams{
		Amount: stripe.Int64(amount), Currency: stripe.String(strings.ToLower(string(c.Currency))),
		CaptureMethod: stripe.String(capture), PaymentMethodTypes: []*string{stripe.String("card")},
		Metadata: map[string]string{referenceKey: c.Reference},
	}
	if d := descriptor(c.Descriptor); d != "" {
		p.StatementDescriptorSuffix = stripe.String(d)
	}
	p.SetIdempotencyKey(c.Reference)
	intent, err := client.V1PaymentIntents.Create(ctx, p)
	if err == nil && !strings.HasPrefix(intent.ID, "pi_") {
		err = errors.New("the response is not a payment intent")
	}
	return intent, err
}

// descriptor trims a descriptor to what the processor accepts: 22 characters, without forbidden ones. It is "" when
// no letter is left.
func descriptor(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`<>\'"*`, r) {
			return -1
		}
		return r
	}, text)
	if len(text) > 22 {
		text = text[:22]
	}
	text = strings.TrimSpace(text)
	if !strings.ContainsFunc(text, func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }) {
		return ""
	}
	return text
}

// cardOf makes the request that sends the card: with a token of the processor, or with placeholders of the tokenizer.
func cardOf(c psp.Charge) (*stripe.PaymentMethodCreateParams, error) {
	p := &stripe.PaymentMethodCreateParams{Type: stripe.String("card"), Card: &stripe.PaymentMethodCreateCardParams{}}
	billing := stripe.PaymentMethodCreateBillingDetailsParams{}
	if c.Card.Holder != "" {
		billing.Name = stripe.String(c.Card.Holder)
	}
	if c.Shopper.Email != "" {
		billing.Email = stripe.String(c.Shopper.Email)
	}
	if billing.Name != nil || billing.Email != nil {
		p.BillingDetails = &billing
	}
	if c.Account.Tokenizer.ID == "" {
		// A payment method of the processor, pm_…, is complete: the confirmation uses it as it is.
		if strings.HasPrefix(c.Card.Token, "tok_") || strings.HasPrefix(c.Card.Token, "pm_") {
			p.Card.Token = stripe.String(c.Card.Token)
			return p, nil
		}
		return nil, invalid("", "the channel has no tokenizer, and this is not a stripe token (tok_… or pm_…)")
	}
	number, err := tokenizer.Number(c.Card.Token)
	if err != nil {
		return nil, err
	}
	code, err := tokenizer.SecurityCode(c.Card.Token)
	switch {
	case err != nil:
		return nil, err
	case c.Card.Month < 1 || c.Card.Month > 12:
		return nil, invalid("expiry_month", "stripe requires the card's expiry month")
	case c.Card.Year < 1000 || c.Card.Year > 9999:
		return nil, invalid("expiry_year", "stripe requires the card's expiry year")
	}
	p.Card.Number, p.Card.CVC = stripe.String(number), stripe.String(code)
	p.Card.ExpMonth, p.Card.ExpYear = stripe.Int64(int64(c.Card.Month)), stripe.Int64(int64(c.Card.Year))
	return p, nil
}

// attach sends the card to the processor and returns its id there. The tokenizer gives out a security code once. When
// it has none, the card goes without, and the issuer and the processor decide whether to accept it.
func attach(ctx context.Context, client *stripe.Client, card *stripe.PaymentMethodCreateParams) (string, error) {
	if own := stripe.StringValue(card.Card.Token); strings.HasPrefix(own, "pm_") {
		return own, nil
	}
	method, err := client.V1PaymentMethods.Create(ctx, card)
	if e, ok := errors.AsType[*psp.Error](err); ok && e.Source == psp.AtTokenizer && e.Code == tokenizer.NoSecurityCode {
		card.Card.CVC = nil
		method, err = client.V1PaymentMethods.Create(ctx, card)
	}
	if err != nil {
		return "", err
	}
	return method.ID, nil
}

// refusedCard is the answer when the card did not get to the processor or was wrong. No money has moved.
func refusedCard(err error) (psp.Result, error) {
	if failure, ok := errors.AsType[*stripe.Error](err); ok && failure.Type == stripe.ErrorTypeCard {
		return declined(psp.Result{}, failure), nil
	}
	e, _ := verdict(err)
	return psp.Result{}, e
}

// confirm is the request that moves money.
func confirm(ctx context.Context, client *stripe.Client, c psp.Charge, intent, method string) (*stripe.PaymentIntent, error) {
	p := &stripe.PaymentIntentConfirmParams{
		PaymentMethod: stripe.String(method), OffSession: stripe.Bool(false),
		Expand: []*string{stripe.String("latest_charge")},
	}
	if c.ReturnURL == "" {
		// No shopper can be sent to a challenge: when the issuer wants one, the payment is declined.
		p.ErrorOnRequiresAction = stripe.Bool(true)
	} else {
		p.ReturnURL = stripe.String(c.ReturnURL)
		p.PaymentMethodOptions = &stripe.PaymentIntentPaymentMethodOptionsParams{
			Card: &stripe.PaymentIntentPaymentMethodOptionsCardParams{RequestThreeDSecure: stripe.String("any")},
		}
	}
	p.SetIdempotencyKey(c.Reference + "-confirm")
	return client.V1PaymentIntents.Confirm(ctx, intent, p)
}

// failed interprets a failed confirmation.
func failed(ctx context.Context, client *stripe.Client, intent string, err error) (psp.Result, error) {
	failure, ok := errors.AsType[*stripe.Error](err)
	if ok && failure.Type == stripe.ErrorTypeCard {
		return declined(psp.Result{ProcessorID: intent}, failure), nil
	}
	e, certain := verdict(err)
	switch {
	case !certain:
		return unknown(intent, err), nil
	case late(err):
		return look(ctx, client, intent), nil
	default:
		return psp.Result{}, e
	}
}

// late reports whether an earlier request did the same already. Then its result is the answer.
func late(err error) bool {
	failure, ok := errors.AsType[*stripe.Error](err)
	return ok && (failure.Type == stripe.ErrorTypeIdempotency || failure.Code == stripe.ErrorCodePaymentIntentUnexpectedState)
}

// look reads the present state of an intent.
func look(ctx context.Context, client *stripe.Client, intent string) psp.Result {
	now, err := retrieve(ctx, client, intent)
	if err != nil {
		return unknown(intent, err)
	}
	return outcome(now)
}

func retrieve(ctx context.Context, client *stripe.Client, intent string) (*stripe.PaymentIntent, error) {
	return client.V1PaymentIntents.Retrieve(ctx, intent, &stripe.PaymentIntentRetrieveParams{
		Expand: []*string{stripe.String("latest_charge")},
	})
}

// unknown is the result of a request that may have moved money.
func unknown(processorID string, err error) psp.Result {
	e, _ := verdict(err)
	return psp.Result{Outcome: psp.Unknown, ProcessorID: processorID, Message: e.Message, Code: e.Code}
}
