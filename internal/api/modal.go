package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
	"holdfast/internal/book/checkout"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/modal"
	"holdfast/internal/errs"
)

// TestCard is a test card of the sandbox processor, as the frame of the payment modal gets it. The number is a public test
// number: no bank has issued it. The frame replaces it by the token before it sends anything.
type TestCard struct {
	Number string `json:"number"`
	Token  string `json:"token"`
	Scheme string `json:"scheme"`
	What   string `json:"what"` // what happens with this card, in words
}

func (s *server) showModal(v checkout.ModalView) modalSession {
	c := v.Channel
	shape := modalSession{
		Token: v.Token, ExpiresAt: view.MaybeISO(v.Session.ExpiresAt), ExpiresIn: int64(checkout.ModalLife.Seconds()), Site: v.SiteName,
		Channel: modalChannel{
			ID: c.ID, Name: c.Name, Currencies: string(c.Currency), Test: c.Mode == merchant.ModeTest, ServerToServer: c.ServerToServer,
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
		return &errs.Error{Kind: errs.Forbidden, Message: "Only the frame of the payment modal can send this request.", Err: err}
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
		Path: in.Needed("path"), Origin: in.Needed("origin"), Auth: in.TextOr("booking_auth"), // an absent one is a wrong one
		Fields: map[string]string{},
	}
	opening.Environment, _ = in.Fields["environment"].(string) // anything else leaves it to the channel
	names := slices.Clone(modal.Always)
	if verify := in.Texts("verify"); verify != nil {
		for _, name := range *verify {
			if !slices.Contains(modal.Verifiable, name) && !slices.Contains(names, name) {
				in.Wrong("verify", "%s", "Only these fields can be verified: "+strings.Join(modal.Verifiable, ", ")+".")
			}
		}
		names = append(names, *verify...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		// A field that the page leaves out counts as empty.
		if opening.Fields[name], err = in.Verbatim(name); err != nil {
			return err
		}
	}
	opening.Problems = *in.Problems // now that all fields are read
	view, err := s.app.Modals.Open(c.ctx, opening)
	if err != nil {
		return err
	}
	c.site = view.Session.SitePath
	c.json(http.StatusCreated, s.showModal(view))
	return nil
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
	given, err := in.Verifiable()
	if err != nil {
		return err
	}
	named := pageNames{}
	named.Take(in, "country", "countries")
	named.Take(in, "description", "content")
	if country := in.Text("countries"); country != nil && given["country"] == "" {
		given["country"] = *country
	}
	fields := input.BookingFields(in)
	fields.OtherProtection = nil // the merchant says what else protects a traveller, and not the shopper
	return s.create(c, func() (object, error) {
		made, created, err := s.app.Modals.Book(c.ctx, use, fields, given)
		o := s.bookingObject(c, made)
		o.existing = !created
		return o, named.Translate(err)
	})
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
	given, err := in.Verifiable()
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
		o, err := s.transactionObject(made, names.Translate(err))
		o.existing = !created
		return o, err
	})
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
