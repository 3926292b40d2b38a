package api

import (
	"encoding/json"
	"net/http"
	"strings"

	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// transactionShape is a transaction in answers. Some fields are always empty: holdfast does not need them, but clients of
// the API expect them. Amounts are in minor units of Currencies.
type transactionShape struct {
	ID                int64                    `json:"id"`
	UUID              string                   `json:"uuid"`
	TrustID           string                   `json:"trust_id"`
	Hash              string                   `json:"hash"`
	Token             string                   `json:"token"`
	Status            travel.TransactionStatus `json:"status"`
	Content           string                   `json:"content"`
	Title             string                   `json:"title"`
	Total             int64                    `json:"total"`
	TotalRemaining    int64                    `json:"total_remaining"`
	Currencies        money.Currency           `json:"currencies"`
	Countries         string                   `json:"countries"`
	Language          string                   `json:"language"`
	Channels          int64                    `json:"channels"`
	Author            string                   `json:"author"`
	AuthorName        string                   `json:"authorname"`
	AuthorID          int64                    `json:"author_id"`
	Bookings          []partShape              `json:"bookings"`
	PaymentIDs        []int64                  `json:"payment_ids"`
	PaymentMethods    string                   `json:"payment_methods"`
	TransactionType   travel.TransactionType   `json:"transaction_type"`
	TransactionTypes  travel.TransactionType   `json:"transaction_types"`
	CardType          *string                  `json:"card_type"`
	CardTypes         *string                  `json:"card_types"`
	BINNumber         *string                  `json:"bin_number"`
	LastFourDigits    *string                  `json:"last_four_digits"`
	AuthCode          *string                  `json:"auth_code"`
	AcquirerReference *string                  `json:"acquirer_reference"`
	Attempt3DS        bool                     `json:"attempt_3ds,omitempty"`
	RedirectURL3DS    string                   `json:"3ds_redirect_url,omitempty"`
	RedirectURL       string                   `json:"redirect_url,omitempty"`
	Response3DS       any                      `json:"3ds_response,omitempty"` // the challenge, or its result
	Adjustments       []int64                  `json:"adjustments"`
	Allocations       any                      `json:"allocations"` // as the payment modal sent them, or an empty list
	APIURLs           []string                 `json:"api_urls"`
	Forex             *[]struct{}              `json:"forex"`
	ForexID           *int64                   `json:"forex_id"`
	ForexRate         *string                  `json:"forex_rate"`
	LinkedID          *int64                   `json:"linked_id"`
	PSP               string                   `json:"psp"`
	IPAddress         string                   `json:"ip_address"`
	PayeeEmail        string                   `json:"payee_email"`
	PayeeName         string                   `json:"payee_name"`
	PayeeSurname      string                   `json:"payee_surname"`
	StatementBatches  string                   `json:"statement_batches"`
	StatementDate     string                   `json:"statement_date"`
	Document          *string                  `json:"document"`
	Created           string                   `json:"created"`
	Modified          string                   `json:"modified"`
	Reference         string                   `json:"reference"`
	Flags             []string                 `json:"flags"`
	EffectiveAt       string                   `json:"effective_at"`
	// OverLimit is the amount above a limit (R12), in minor units of OverLimitCurrency; absent when it is 0.
	OverLimit         int64          `json:"over_limit_amount,omitempty"`
	OverLimitCurrency money.Currency `json:"over_limit_currency,omitempty"`
	// ChargeChannel is as the payment modal sent it; absent in other transactions.
	ChargeChannel int64 `json:"charge_channel,omitempty"`
	processedShape
}

// partShape is the part of a payment that is for one booking, with some fields of that booking.
type partShape struct {
	ID         int64          `json:"id"`
	Total      int64          `json:"total"`
	Currencies money.Currency `json:"currencies"`
	Reference  string         `json:"reference"`
	Country    string         `json:"country"`
	Channels   int64          `json:"channels"`
}

func showTransaction(t travel.Transaction, hash string) transactionShape {
	shape := transactionShape{
		ID: t.ID, UUID: t.UUID, TrustID: t.TrustID(), Token: t.Token, Status: t.Status, Content: t.Content,
		Hash: hash, Title: t.Title(), Total: t.Total, TotalRemaining: t.TotalRemaining(), Currencies: t.Currency, Countries: t.Country,
		Language: t.Language(), Channels: t.ChannelID, Author: t.Author, AuthorName: t.AuthorName,
		AuthorID: t.AuthorID, Bookings: []partShape{}, PaymentIDs: []int64{}, PaymentMethods: t.Method,
		TransactionType: t.Type, TransactionTypes: t.Type, CardType: orNull(t.CardType), CardTypes: orNull(t.CardType),
		BINNumber: orNull(t.BIN), LastFourDigits: orNull(t.LastFour), AuthCode: orNull(t.AuthCode),
		AcquirerReference: orNull(t.AcquirerReference),
		Attempt3DS:        t.Attempt3DS, Adjustments: append([]int64{}, t.Adjustments...), Allocations: []struct{}{},
		APIURLs: []string{}, ForexRate: orNull(t.ForexRate), LinkedID: orNull(t.LinkedID), PSP: t.PSP,
		IPAddress: t.IPAddress, PayeeEmail: t.PayeeEmail, PayeeName: t.PayeeName, PayeeSurname: t.PayeeSurname,
		Created: civil.FormatInstant(t.CreatedAt), Modified: civil.FormatInstant(t.ModifiedAt), Reference: t.Reference,
		Flags: append([]string{}, t.Flags...), EffectiveAt: civil.FormatInstant(t.EffectiveAt),
		OverLimit: t.OverLimit, OverLimitCurrency: t.OverLimitCurrency, ChargeChannel: t.ModalCharge,
		processedShape: showProcessed(t),
	}
	if t.ModalAllocations != "" {
		shape.Allocations = json.RawMessage(t.ModalAllocations)
	}
	if t.Attempt3DS {
		shape.RedirectURL3DS, shape.RedirectURL, shape.Response3DS = t.RedirectURL, t.RedirectURL, response3DS(t)
	}
	if shape.StatementBatches = t.StatementBatches; t.StatementBatches != "" {
		shape.StatementDate = civil.DayOf(t.StatementDate).String()
	}
	for _, p := range t.Payments {
		shape.PaymentIDs = append(shape.PaymentIDs, p.ID)
		shape.Bookings = append(shape.Bookings, partShape{
			ID: p.BookingID, Total: p.Total, Currencies: p.Currency, Reference: p.BookingReference,
			Country: p.BookingCountry, Channels: p.ChannelID,
		})
	}
	return shape
}

// ShowTransaction gives the shape of a transaction with its hash, to be encoded as JSON.
func ShowTransaction(t travel.Transaction, hash string) any { return showTransaction(t, hash) }

// transactionObject makes the answer about a transaction. It returns err as it is.
func (s *server) transactionObject(t travel.Transaction, err error) (object, error) {
	if err != nil {
		return object{}, err
	}
	hash, err := s.app.Channels.HashOf(t)
	return object{id: t.ID, body: showTransaction(t, hash)}, err
}

func (s *server) listTransactions(c *call) error {
	q := c.query()
	page := q.page(travel.TransactionOrders)
	filter := travel.TransactionFilter{
		Include:           q.ids("include"),
		Exclude:           q.ids("exclude"),
		Created:           q.span(""),
		Modified:          q.span("modified_"),
		Statuses:          words(q, "status", travel.TransactionStatuses),
		Channels:          q.ids("channels"),
		Countries:         q.codes("countries"),
		Reference:         q.text("reference"),
		Currencies:        q.codes("currencies"),
		Types:             words(q, "transaction_types", travel.TransactionTypes),
		Methods:           words(q, "payment_methods", travel.PaymentMethods),
		CardTypes:         q.list("card_types"),
		BIN:               q.text("bin_number"),
		LastFour:          q.text("last_four_digits"),
		PayeeEmail:        q.text("payee_email"),
		PayeeSurname:      q.text("payee_surname"),
		LinkedID:          q.id("linked_id"),
		Bookings:          q.ids("bookings"),
		PSP:               q.text("psp"),
		AuthCode:          q.text("auth_code"),
		AcquirerReference: q.text("acquirer_reference"),
		OverLimit:         q.maybeFlag("over_limit"),
	}
	if err := q.err(); err != nil {
		return err
	}
	found, err := s.app.Payments.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	hashes, err := s.app.Channels.HashesOf(found.Items)
	if err != nil {
		return err
	}
	return list(s, c, page, found, func(t travel.Transaction) transactionShape { return showTransaction(t, hashes[t.ID]) })
}

// maybeFlag reads true or false. It is nil when the parameter is absent.
func (q *query) maybeFlag(name string) *bool {
	if q.text(name) == "" {
		return nil
	}
	value := q.flag(name, false)
	return &value
}

// codes reads a list of country or currency codes. They are stored in capital letters; a caller may use small letters.
func (q *query) codes(name string) []string {
	codes := q.list(name)
	for i, code := range codes {
		codes[i] = strings.ToUpper(code)
	}
	return codes
}

// id reads one id. It is 0 when the parameter is absent or wrong.
func (q *query) id(name string) int64 {
	text := q.text(name)
	if text == "" {
		return 0
	}
	id, ok := parseID(text)
	switch {
	case !ok && isDigits(text):
		q.problems.Wrong(name, "This number is too long for an id.")
	case !ok || id == 0:
		q.problems.Wrong(name, "An id is expected.")
	}
	return id
}

func (s *server) getTransaction(c *call) error {
	found, err := s.findTransaction(c, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, found)
}

func (s *server) findTransaction(c *call, id int64) (object, error) {
	found, err := s.app.Payments.Get(c.ctx, c.actor, id)
	return s.transactionObject(found, err)
}

func (s *server) createTransaction(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	return s.create(c, func() (object, error) {
		made, created, err := s.app.Payments.Create(c.ctx, c.actor, newTransaction(in))
		o, err := s.transactionObject(made, err)
		o.existing = !created
		return o, err
	})
}

// newTransaction reads the fields of a transaction that a caller reports.
func newTransaction(in *input) travel.NewTransaction {
	n := travel.NewTransaction{
		ChannelID:         in.integer("channels"),
		Currency:          in.currency("currencies"),
		Total:             in.integer("total"),
		Type:              word[travel.TransactionType](in, "transaction_types"),
		Items:             in.parts("bookings"),
		PSP:               in.textOr("psp"),
		Method:            in.textOr("payment_methods"),
		PayeeName:         in.textOr("payee_name"),
		PayeeSurname:      in.textOr("payee_surname"),
		PayeeEmail:        in.textOr("payee_email"),
		Country:           in.textOr("countries"),
		Reference:         in.textOr("reference"),
		Token:             in.textOr("token"),
		IPAddress:         in.textOr("ip_address"),
		BIN:               in.textOr("bin_number"),
		LastFour:          in.textOr("last_four_digits"),
		CardType:          in.textOr("card_types"),
		AuthCode:          in.textOr("auth_code"),
		AcquirerReference: in.textOr("acquirer_reference"),
		RedirectURL:       in.textOr("3ds_redirect_url"),
		Content:           in.textOr("content"),
		ReasonCode:        in.textOr("reason_code"),
		ChallengeDay:      in.day("challenge_date"),
	}
	if month := in.integer("expiry_month"); month != nil {
		n.ExpiryMonth = *month
	}
	if year := in.integer("expiry_year"); year != nil {
		n.ExpiryYear = *year
	}
	if attempted := in.boolean("attempt_3ds"); attempted != nil {
		n.Attempt3DS = *attempted
	}
	if linked := in.integer("linked_id"); linked != nil {
		n.LinkedID = *linked
	}
	if at := in.instant("effective_at"); at != nil {
		n.EffectiveAt = *at
	}
	n.Problems = *in.problems // now that all fields are read
	return n
}

// parts reads how a payment is divided among bookings. It is nil when the field is absent or is no list of objects. What is
// absent or wrong in an item is zero.
func (in *input) parts(name string) *[]travel.Item {
	given := in.items(name)
	if given == nil {
		return nil
	}
	parts := []travel.Item{}
	for _, item := range *given {
		item.need("id", "currencies", "total")
		parts = append(parts, travel.Item{
			BookingID: valueOr(item.integer("id"), 0), Currency: valueOr(item.currency("currencies"), ""),
			Total: valueOr(item.integer("total"), 0),
		})
	}
	return &parts
}
