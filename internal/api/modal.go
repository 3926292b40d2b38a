package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"holdfast/internal/auth"
	"holdfast/internal/checkout"
	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

// TestCard is a test card of the sandbox processor, as the frame of the payment modal gets it. The number is a public test
// number: no bank has issued it. The frame replaces it by the token before it sends anything.
type TestCard struct {
	Number string `json:"number"`
	Token  string `json:"token"`
	Scheme string `json:"scheme"`
	What   string `json:"what"` // what happens with this card, in words
}

// modalSessionShape is an open session, as the frame of the payment modal gets it.
type modalSessionShape struct {
	Token     string         `json:"token"`
	ExpiresAt *string        `json:"expires_at"` // by the clock of the site
	ExpiresIn int64          `json:"expires_in"` // seconds
	Site      string         `json:"site"`
	Channel   modalChannel   `json:"channel"`
	Tokenizer modalTokenizer `json:"tokenizer"`
}

type modalChannel struct {
	ID             int64  `json:"id"`
	Name           string `json:"name"`
	Currencies     string `json:"currencies"`
	Test           bool   `json:"test"`
	ServerToServer bool   `json:"server_to_server"`
	Language       string `json:"language"`
	ReceiptLabel   string `json:"receipt_label"`
}

// modalTokenizer says how the frame gets the token of a card. All fields but Kind are set only for hosted fields.
type modalTokenizer struct {
	Kind              checkout.TokenizerKind `json:"kind"`
	Environment       string                 `json:"environment,omitempty"`
	Script            string                 `json:"script,omitempty"`
	ID                string                 `json:"id,omitempty"`
	Origin            string                 `json:"origin,omitempty"`
	Timestamp         string                 `json:"timestamp,omitempty"`
	Scheme            string                 `json:"scheme,omitempty"`
	AuthenticationKey string                 `json:"authentication_key,omitempty"`
}

func (s *server) showModal(v checkout.ModalView) modalSessionShape {
	c := v.Channel
	shape := modalSessionShape{
		Token: v.Token, ExpiresAt: maybeISO(v.Session.ExpiresAt), ExpiresIn: int64(checkout.ModalLife.Seconds()), Site: v.SiteName,
		Channel: modalChannel{
			ID: c.ID, Name: c.Name, Currencies: string(c.Currency), Test: c.Mode == travel.ModeTest, ServerToServer: c.ServerToServer,
			Language: c.Language, ReceiptLabel: c.ReceiptLabel,
		},
		Tokenizer: modalTokenizer{Kind: v.Tokenizer},
	}
	t := &shape.Tokenizer
	if v.Tokenizer != checkout.HostedFields {
		return shape
	}
	if t.Environment, t.Script = checkout.ModalTest, s.cfg.FieldsTestScript; v.Live {
		t.Environment, t.Script = checkout.ModalLive, s.cfg.FieldsLiveScript
	}
	if t.Script == "" { // the hosted fields do not work without their script
		*t = modalTokenizer{Kind: checkout.NoCards}
		return shape
	}
	t.ID, t.Origin, t.Timestamp, t.Scheme, t.AuthenticationKey =
		v.Fields.ID, v.Fields.Origin, v.Fields.Timestamp, v.Fields.Scheme, v.Fields.Key
	return shape
}

// ownPages checks that a request of a browser comes from a page of ours. It lets other clients through: they need
// credentials anyway.
func ownPages(cfg Config) *http.CrossOriginProtection {
	p := http.NewCrossOriginProtection()
	if u, err := url.Parse(cfg.BaseURL); err == nil && u.Host != "" {
		// If the address is not a valid origin, no page is trusted besides those of the same host.
		_ = p.AddTrustedOrigin(u.Scheme + "://" + u.Host)
	}
	return p
}

func (s *server) checkOwnPage(c *call) error {
	if err := s.ownPages.Check(c.r); err != nil {
		return &fault.Error{Kind: fault.Forbidden, Message: "Only the frame of the payment modal may send this request.", Err: err}
	}
	return nil
}

func (s *server) openModalSession(c *call) error {
	if err := s.checkOwnPage(c); err != nil {
		return err
	}
	in, err := c.input()
	if err != nil {
		return err
	}
	opening := checkout.ModalOpening{
		Path: in.needed("path"), Origin: in.needed("origin"), Auth: in.needed("booking_auth"),
		Fields: map[string]string{},
	}
	opening.Environment, _ = in.fields["environment"].(string) // anything else leaves it to the channel
	names := slices.Clone(travel.ModalAlways)
	if verify := in.texts("verify"); verify != nil {
		for _, name := range *verify {
			if !slices.Contains(travel.ModalVerifiable, name) && !slices.Contains(names, name) {
				in.wrong("verify", "%s", "Only these fields can be verified: "+strings.Join(travel.ModalVerifiable, ", ")+".")
			}
		}
		names = append(names, *verify...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		// A field that the page leaves out counts as empty.
		if opening.Fields[name], err = in.verbatim(name); err != nil {
			return err
		}
	}
	opening.Problems = *in.problems // now that all fields are read
	view, err := s.app.Modals.Open(c.ctx, opening)
	if err != nil {
		return err
	}
	c.site = view.Session.SitePath
	c.json(http.StatusCreated, s.showModal(view))
	return nil
}

// needed reads a required text. It notes a problem when the text is missing.
func (in *input) needed(name string) string {
	text := in.text(name)
	if text == nil {
		if !in.problems.Has(name) {
			in.problems.Missing(name)
		}
		return ""
	}
	return *text
}

// maxVerbatim is how many bytes of a field go into an auth string. An encoder writes the longest list that is taken, of 1,023
// characters, with twelve bytes for a character at most.
const maxVerbatim = 16 << 10

// verbatim gives a field as the text from which an auth string is computed: a text as it is, a number as its digits, a
// list or an object as JSON without spaces, and "" when the field is absent. The text will be stored, so it is checked for
// card numbers, even when it was a number.
func (in *input) verbatim(name string) (string, error) {
	var text string
	switch v := in.fields[name].(type) {
	case nil:
	case string:
		if text = v; !storable(v) {
			in.wrong(name, "Control characters are not allowed.")
		}
	case json.Number:
		text = v.String()
	case raw:
		var written bytes.Buffer
		_ = json.Compact(&written, v) // it is valid JSON, and loses the spaces between its parts here
		text = written.String()
	}
	if len(text) > maxVerbatim {
		in.wrong(name, "This is too long.")
		return "", nil
	}
	// Digits can be hidden in escapes.
	if travel.HoldsCardNumber(text) || travel.HoldsCardNumber(auth.OneForm(name, text)) {
		return "", errCardNumber(name)
	}
	return text, nil
}

// verifiable reads the fields that an auth string can verify, and that are given.
func (in *input) verifiable() (given map[string]string, err error) {
	given = map[string]string{}
	for _, name := range slices.Concat(travel.ModalAlways, travel.ModalVerifiable) {
		if in.fields[name] == nil {
			continue
		}
		text, err := in.verbatim(name)
		if err != nil {
			return nil, err
		}
		given[name] = auth.OneForm(name, text) // as the session keeps it
	}
	return given, nil
}

// enterModal finds the session of the payment modal that the request belongs to. The call then acts on the site of that
// session.
func (s *server) enterModal(c *call, writes bool) (checkout.ModalUse, error) {
	if writes {
		if err := s.checkOwnPage(c); err != nil {
			return checkout.ModalUse{}, err
		}
	}
	use, err := s.app.Modals.Enter(c.ctx, bearer(c.r), writes)
	if err != nil {
		return use, err
	}
	key, err := c.idempotencyKey()
	if err != nil {
		return use, err
	}
	use.Actor.RequestID, use.Actor.Address, use.Actor.Key = c.requestID, c.address, use.Key(key)
	c.actor, c.site = use.Actor, use.Session.SitePath
	c.r.SetPathValue("site", use.Session.SitePath) // for the links
	return use, nil
}

func (s *server) createModalBooking(c *call) error {
	use, err := s.enterModal(c, true)
	if err != nil {
		return err
	}
	in, err := c.input()
	if err != nil {
		return err
	}
	given, err := in.verifiable()
	if err != nil {
		return err
	}
	named := pageNames{}
	named.take(in, "country", "countries")
	named.take(in, "description", "content")
	if country := in.text("countries"); country != nil && given["country"] == "" {
		given["country"] = *country
	}
	fields := bookingFields(in)
	fields.OtherProtection = nil // the merchant says what else protects a traveller, and not the shopper
	return s.create(c, func() (object, error) {
		made, created, err := s.app.Modals.Book(c.ctx, use, fields, given)
		o := s.bookingObject(c, made)
		o.existing = !created
		return o, named.tell(err)
	})
}

// pageNames are the names in the modal's data of fields that a booking or transaction names otherwise.
type pageNames map[string]string

// take copies a field from its name in the modal's data to its name in a booking or transaction, unless that one is
// given.
func (n pageNames) take(in *input, from, to string) {
	if in.fields[to] != nil {
		return
	}
	if _, known := n[to]; !known || in.fields[from] != nil {
		n[to] = from
	}
	in.fields[to] = in.fields[from]
}

// tell makes an error name the fields as the page has named them.
func (n pageNames) tell(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != fault.Invalid && f.Kind != fault.Missing {
		return err
	}
	var p fault.Problems
	for _, name := range f.Absent {
		p.Missing(cmp.Or(n[name], name))
	}
	for name, message := range f.Params {
		p.Wrong(cmp.Or(n[name], name), "%s", message)
	}
	return cmp.Or(p.Err(), err)
}

func (s *server) getModalBooking(c *call) error {
	use, err := s.enterModal(c, false)
	if err != nil {
		return err
	}
	found, err := s.findModalBooking(c, use, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, found)
}

func (s *server) findModalBooking(c *call, use checkout.ModalUse, id int64) (object, error) {
	found, err := s.app.Modals.Booking(c.ctx, use, id)
	if err != nil {
		return object{}, err
	}
	return s.bookingObject(c, found), nil
}

func (s *server) createModalTransaction(c *call) error {
	use, err := s.enterModal(c, true)
	if err != nil {
		return err
	}
	in, err := c.input()
	if err != nil {
		return err
	}
	given, err := in.verifiable()
	if err != nil {
		return err
	}
	delete(given, "country") // it may be the country of the trip or of the payer; the booking has the right one
	named := namedBookings(in)
	names := pageNames{}
	payment := modalTransaction(in, names)
	return s.create(c, func() (object, error) {
		made, created, err := s.app.Modals.Pay(c.ctx, use, checkout.ModalPayment{
			NewTransaction: payment, Given: given, Bookings: named, Address: c.address,
		})
		o, err := s.transactionObject(made, names.tell(err))
		o.existing = !created
		return o, err
	})
}

// modalTransaction reads the fields of a payment that the shopper may set: the card's token and expiry, and the payer.
func modalTransaction(in *input, names pageNames) travel.NewTransaction {
	names.take(in, "transaction_type", "transaction_types")
	names.take(in, "transactionType", "transaction_types")
	names.take(in, "payee_country", "countries")
	all := newTransaction(in)
	return travel.NewTransaction{
		Problems: all.Problems, Type: all.Type, Token: all.Token, ExpiryMonth: all.ExpiryMonth, ExpiryYear: all.ExpiryYear,
		PayeeName: all.PayeeName, PayeeSurname: all.PayeeSurname, PayeeEmail: all.PayeeEmail, Country: all.Country,
	}
}

// namedBookings reads the bookings of a payment, which are in "booking_id" or in "bookings".
func namedBookings(in *input) []travel.Item {
	var named []travel.Item
	if id := in.integer("booking_id"); id != nil {
		named = append(named, travel.Item{BookingID: *id})
	}
	if parts := in.parts("bookings"); parts != nil && !in.problems.Has("bookings") {
		named = append(named, *parts...)
	}
	return named
}

func (s *server) getModalTransaction(c *call) error {
	use, err := s.enterModal(c, false)
	if err != nil {
		return err
	}
	found, err := s.findModalTransaction(c, use, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, found)
}

func (s *server) findModalTransaction(c *call, use checkout.ModalUse, id int64) (object, error) {
	found, err := s.app.Modals.Payment(c.ctx, use, id)
	return s.transactionObject(found, err)
}

// listTestCards answers with the test cards that the frame may take. The list is empty when the channel does not take test
// cards.
func (s *server) listTestCards(c *call) error {
	use, err := s.enterModal(c, false)
	if err != nil {
		return err
	}
	takes, err := s.app.Modals.TakesTestCards(c.ctx, use)
	if err != nil {
		return err
	}
	cards := []TestCard{}
	if takes {
		cards = append(cards, s.cfg.TestCards...)
	}
	c.json(http.StatusOK, cards)
	return nil
}
