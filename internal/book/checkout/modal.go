// Package checkout serves the payment modal. An auth string opens a session, in which a shopper pays for one
// booking. It owns modal_sessions. Start at Modals.Open.
package checkout

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"holdfast/internal/book/intake"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/modal"
	"holdfast/internal/errs"
	"holdfast/internal/platform/leases"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/platform/sites"
	"holdfast/internal/psp"
	"holdfast/internal/store"
)

// Modals are the use cases of the payment modal: it opens a session with the auth string of an integrator, creates or reads
// one booking in it, and pays this booking. It acts for an unknown shopper, with the role access.Modal.
type Modals struct {
	*payments.Room
	bookings *intake.Bookings
	payments *payments.Payments
}

// NewModals makes the use cases.
func NewModals(room *payments.Room, logged *intake.Bookings, taken *payments.Payments) *Modals {
	return &Modals{Room: room, bookings: logged, payments: taken}
}

// ModalLife is the lifetime of a session: longer than that of an auth string, because the shopper has to type.
const ModalLife = 30 * time.Minute

// Bounds of sessions.
const (
	modalMemory   = 24 * time.Hour // how long sessions are stored
	modalBookings = 10             // that one auth string can pay
	modalSessions = 50             // that one auth string can open
)

// The paths of the modal, and of the page to which a shopper returns from a challenge. That page notifies the modal's
// frame.
const (
	ModalPath       = "/modal/v1/"
	ModalReturnPath = ModalPath + "return"
)

// ModalOpening is the request of a page to open the modal.
type ModalOpening struct {
	Problems    errs.Problems
	Path        string // of the site
	Environment string // test or live; anything else: that of the channel
	Origin      string // of the page
	Auth        string
	Fields      map[string]string // that the auth string verifies, as texts
}

// The environments of the modal.
const (
	ModalTest = "test"
	ModalLive = "live"
)

// TokenizerKind says how the frame of the modal gets the token of a card.
type TokenizerKind string

// The kinds.
const (
	TestCards    TokenizerKind = "sandbox" // the frame knows the test cards, and accepts no others
	HostedFields TokenizerKind = "hosted"  // the shopper types the number into fields of the tokenizer
	NoCards      TokenizerKind = "none"    // the channel accepts no cards in the modal
)

// ModalView is the data that the frame receives about an open session.
type ModalView struct {
	Session   modal.Session
	Token     string
	SiteName  string
	Channel   merchant.Channel
	Tokenizer TokenizerKind
	Live      bool             // the tokenizer is the one for live cards
	Fields    psp.HostedFields // for HostedFields only
}

// Open opens a session. A wrong auth string, an unknown site and an unknown channel all get the same answer, so that
// guessing does not reveal what exists. Only an expired string gets a specific response. Other errors are only
// returned to callers with a valid auth string.
//
// Wrong strings are not counted. An HMAC cannot be guessed, a check costs no more than any small read, and the limiter bounds how
// many run concurrently. Counting by address would block all shoppers behind a proxy because of one of them.
func (m *Modals) Open(ctx context.Context, in ModalOpening) (ModalView, error) {
	verified := map[string]string{}
	for name, value := range in.Fields {
		verified[name] = secrets.OneForm(name, value)
	}
	modal.CheckFields(verified, &in.Problems)
	if err := in.Problems.Err(); err != nil {
		return ModalView{}, err
	}
	secret, err := secrets.NewSecret(m.Random)
	if err != nil {
		return ModalView{}, err
	}
	site, err := m.siteOf(ctx, in.Path)
	if err != nil {
		return ModalView{}, err
	}
	var view ModalView
	clock := sites.Clock{SiteID: site.ID, Ahead: site.ClockAhead}
	err = m.ReadBy(ctx, clock, func(tx *store.Tx) (err error) {
		view = ModalView{Token: secrets.SiteKey(site.ID, secret), SiteName: site.Name}
		if view.Channel, err = channelVouchedFor(m.Vault, tx, site, in); err != nil {
			return err
		}
		return judgeOpening(site, view.Channel, in)
	})
	if err != nil {
		return ModalView{}, err
	}
	in.Fields = verified
	err = m.WriteBy(ctx, clock, func(tx *store.Tx) error { return m.open(tx, &view, site, in) })
	return view, err
}

// siteOf reads the site for which the modal is opened. For an unknown site it returns the zero site, so that the
// response is the same as for a wrong auth string.
func (m *Modals) siteOf(ctx context.Context, path string) (site merchant.Site, err error) {
	err = m.Store.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		site, err = merchants.SiteAt(tx, path)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
	return site, err
}

// decoySecret is used for an unknown channel, so that the response takes as long as for a known one.
const decoySecret = "the secret of no channel"

// channelVouchedFor returns the channel whose secret has signed the auth string. A locked or closed channel is refused
// in the same way as a wrong string.
func channelVouchedFor(vault *secrets.Vault, tx *store.Tx, site merchant.Site, in ModalOpening) (channel merchant.Channel, err error) {
	id, _ := payments.ParsePositive(in.Fields["channels"])
	channel, err = merchants.Channel(tx, site.ID, id)
	missing := errors.Is(err, store.ErrNotFound)
	if err != nil && !missing {
		return channel, err
	}
	secret, err := merchants.OpenSecret(vault, site.ID, channel.ID, channel.SealedSecret)
	if err != nil {
		return channel, err
	}
	if secret == "" { // no one can sign for a channel without a secret
		missing, secret = true, decoySecret
	}
	err = secrets.CheckModalString(secret, in.Fields, in.Auth, tx.Now)
	if err == nil && (missing || channel.LockedOrInsolvent() || channel.Mode == merchant.ModeClosed) {
		err = secrets.ErrModalString()
	}
	return channel, err
}

// judgeOpening refuses an opening with a right auth string, if the page or the environment is wrong.
func judgeOpening(site merchant.Site, channel merchant.Channel, in ModalOpening) error {
	if !slices.Contains(site.PermittedURLs, in.Origin) {
		return modalRefusal("origin", "The page's origin is not one of the site's permitted URLs.")
	}
	environment, other := ModalLive, ModalTest
	if channel.Mode == merchant.ModeTest {
		environment, other = other, environment
	}
	if in.Environment == other {
		return modalRefusal("environment", "The environment of the channel is "+environment+".")
	}
	return nil
}

// modalRefusal is a fault of the kind ModalAuth. The reason is one word, for programs.
func modalRefusal(reason, message string) error {
	return &errs.Error{Kind: errs.ModalAuth, Reason: reason, Message: message}
}

// open stores the session and fills in the view.
func (m *Modals) open(tx *store.Tx, view *ModalView, site merchant.Site, in ModalOpening) error {
	s := modal.Session{
		SiteID: site.ID, ChannelID: view.Channel.ID, TokenHash: secrets.HashSecret(view.Token), AuthHash: secrets.HashSecret(in.Auth),
		Origin: in.Origin, Verified: in.Fields, ExpiresAt: tx.Now.Add(ModalLife), SitePath: site.Path, ChannelName: view.Channel.Name,
	}
	n, err := countSessions(tx, s.SiteID, s.AuthHash)
	if err != nil {
		return err
	}
	if n >= modalSessions {
		return &errs.Error{Kind: errs.TooMany, RetryAfter: ModalLife, Message: "This auth string has opened too many modals. Create a new one."}
	}
	if view.Session, err = insertSession(tx, s); err != nil {
		return err
	}
	processor, _, account, err := m.GatewayOf(tx, view.Channel)
	if errors.Is(err, store.ErrNotFound) {
		view.Tokenizer = NoCards
		return nil
	}
	if err != nil {
		return err
	}
	view.Live = account.Live
	switch {
	case processor == merchants.SandboxProcessor:
		view.Tokenizer = TestCards
	case account.Tokenizer.ID != "" && account.Tokenizer.FieldsSecret != "":
		view.Tokenizer = HostedFields
		// The origins from the inside out: the fields are in our frame, and our frame is in the page.
		view.Fields = account.Tokenizer.Fields([]string{originOf(m.Settings.BaseURL), s.Origin}, sites.RealNow(tx))
	default:
		view.Tokenizer = NoCards
	}
	return nil
}

// originOf is the origin of an address.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// Forget removes a number of old sessions. more: there may be some left.
func (m *Modals) Forget(ctx context.Context) (more bool, err error) {
	return sites.Each(ctx, m.DB, sites.Older("modal_sessions", "created_at", "", modalMemory), leases.ForgetAtOnce, forgetSessions)
}
