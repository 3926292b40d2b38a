package demo

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"holdfast/internal/account/people"
	"holdfast/internal/account/tokens"
	"holdfast/internal/app"
	"holdfast/internal/book/imports"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/onboarding"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
)

// Options are the options of the demo.
type Options struct {
	Day         *civil.Day // day of a new sandbox's clock; nil means real time
	Credentials string     // path of the credentials file
	Random      io.Reader
	Empty       bool                  // without the book
	Origins     []string              // origins of the demo's checkout page, for the payment modal
	Progress    func(done, total int) // called while the book is loaded; may be nil
	// SetBack sets the program's clock back, so that the history of a new sandbox is recorded in the past. It is called
	// before anything is created, and with 0 at the end.
	SetBack func(time.Duration)
}

// officeHours is the time of day on a new sandbox's clock.
const officeHours = 9 * time.Hour

// World is everything that the demo created.
type World struct {
	Credentials
	Site     merchant.Site
	Live     merchant.Site // not a sandbox
	Proposal int64         // on Live, the proposal that needs a second operator; 0: none
	Today    civil.Day     // by the site's clock
	Channels []merchant.Channel
	Book     imports.ImportReport // loaded by this start; zero if nothing was loaded
}

// Prepare creates the demo, or adds what is missing from an earlier start. It keeps users' changes.
func Prepare(ctx context.Context, a *app.App, o Options) (World, error) {
	m := &maker{app: a, Options: o}
	steps := []func(context.Context) error{
		m.refuseRealSites, m.beginHistory, m.makeSite, m.readCredentials, m.makePeople, m.makeToken, m.permitOrigins,
		m.makeChannels, m.loadBook, m.addRates, m.makeLiveSite,
	}
	defer m.SetBack(0)
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return m.world, err
		}
	}
	return m.world, nil
}

type maker struct {
	Options
	app   *app.App
	world World
	actor access.Actor // on the site
	admin people.User
	isNew bool // the site was created by this start
	// back is how far the program's clock is set back, loaded the number of book rows loaded, and rated the last day
	// with rates.
	back     time.Duration
	loaded   int
	rated    civil.Day
	operator people.User        // proposes on the live site
	supplied map[string][]int64 // ids of the suppliers by country
}

// refuseRealSites rejects a database with live sites other than the demo's own. Operators have full access to all sites, and
// the password of the demo's operator is in a file.
func (m *maker) refuseRealSites(ctx context.Context) error {
	for number := 1; ; number++ {
		page := store.Page{Number: number, Size: 100, Offset: -1, OrderBy: "id"}
		list, err := m.app.Sites.List(ctx, access.System(0), merchants.SiteFilter{}, page)
		if err != nil {
			return err
		}
		for _, site := range list.Items {
			if !site.Sandbox && (site.Path != LiveSitePath || site.Name != LiveSiteName) {
				return fmt.Errorf("the site %q in this database is not a sandbox, and the demo's operator would have full access to it. "+
					"Choose another database with --database", site.Path)
			}
		}
		if len(list.Items) < page.Size {
			return nil
		}
	}
}

func (m *maker) makeSite(ctx context.Context) error {
	system := access.System(0)
	site, err := m.app.Sites.At(ctx, system, SitePath)
	if errs.Is(err, errs.SettingNotFound) {
		path, name, currency := SitePath, SiteName, money.Currency("GBP")
		site, err = m.app.Sites.Create(ctx, system, merchant.SiteFields{
			Path: &path, Name: &name, Sandbox: true, Currency: &currency, Issuer: fieldsOf(issuer), Policyholder: fieldsOf(policyholder),
		})
		m.isNew = true
	}
	if err != nil {
		return err
	}
	m.actor = merchants.SystemAt(site)
	if m.isNew && m.Day != nil {
		to := m.Day.Start().Add(officeHours).Add(-m.back)
		if _, err := m.app.Rates.MoveClock(ctx, m.actor, to); err != nil {
			return err
		}
		if site, err = m.app.Sites.At(ctx, system, SitePath); err != nil {
			return err
		}
		m.actor = merchants.SystemAt(site)
	}
	m.world.Site = site
	return m.look(ctx)
}

// look reads the site's current day.
func (m *maker) look(ctx context.Context) error {
	shown, err := m.app.Clocks.Show(ctx, m.actor)
	m.world.Today = civil.DayOf(shown.Now)
	return err
}

func (m *maker) readCredentials(context.Context) (err error) {
	m.world.Credentials, err = readCredentials(m.Credentials)
	if m.isNew { // an existing file belongs to an earlier database, and this one has no book yet
		m.world.BookDay, m.world.BookLoaded = "", false
	}
	return err
}

func (m *maker) saveCredentials() error { return m.world.Credentials.write(m.Credentials) }

func (m *maker) makePeople(ctx context.Context) error {
	known := &m.world.Credentials
	var err error
	if m.operator, err = m.person(ctx, OperatorName, access.Operator, &known.OperatorPassword); err != nil {
		return err
	}
	if _, err := m.person(ctx, ApproverName, access.Operator, &known.ApproverPassword); err != nil {
		return err
	}
	m.admin, err = m.person(ctx, AdminName, access.MemberAdmin, &known.AdminPassword)
	return err
}

// person creates a user. If the user exists, person makes sure that the password in the file is correct.
func (m *maker) person(ctx context.Context, name string, role access.Role, password *string) (people.User, error) {
	if *password == "" {
		secret, err := secrets.NewSecret(m.Random)
		if err != nil {
			return people.User{}, err
		}
		*password = secret[:20] // a hundred bits
		// Save the password before setting it, so that it is never lost.
		if err := m.saveCredentials(); err != nil {
			return people.User{}, err
		}
	}
	user, err := m.app.Accounts.UserNamed(ctx, m.actor, name)
	if errs.Is(err, errs.SettingNotFound) {
		fields := people.UserFields{Username: name, Email: name + "@example.org", DisplayName: name, Password: *password}
		return m.app.Accounts.CreateUser(ctx, m.actor, fields, role, false)
	}
	if err != nil {
		return people.User{}, err
	}
	// Check the password directly, so that a wrong one does not count as a failed login.
	if ok, err := secrets.CheckPassword(user.PasswordHash, *password); err == nil && !ok {
		return user, m.app.Accounts.SetPassword(ctx, m.actor, user.ID, *password, false)
	}
	return user, nil
}

func (m *maker) makeToken(ctx context.Context) error {
	if m.world.Token != "" {
		_, err := m.app.Sessions.Authenticate(ctx, SitePath, m.world.Token, "")
		if !errs.Is(err, errs.TokenInvalid) {
			return err
		}
	}
	// A token from an earlier start is useless once its credentials are lost, so delete it.
	made, err := m.app.Tokens.List(ctx, m.actor)
	if err != nil {
		return err
	}
	for _, t := range made {
		if t.Name == tokenName {
			if err := m.app.Tokens.Delete(ctx, m.actor, t.ID); err != nil {
				return err
			}
		}
	}
	name, owner := tokenName, m.actor
	owner.UserID = m.admin.ID
	if _, m.world.Token, err = m.app.Tokens.Create(ctx, owner, tokens.TokenFields{Name: &name}); err != nil {
		return err
	}
	return m.saveCredentials()
}

// permitOrigins allows the demo's checkout page to open the payment modal. It removes the origins of the last start.
func (m *maker) permitOrigins(ctx context.Context) error {
	if slices.Equal(m.world.Credentials.Origins, m.Origins) && !m.isNew {
		return nil
	}
	permitted := slices.DeleteFunc(slices.Clone(m.world.Site.PermittedURLs), func(origin string) bool {
		return slices.Contains(m.world.Credentials.Origins, origin)
	})
	permitted = append(permitted, m.Origins...)
	changed, err := m.app.Sites.Change(ctx, m.actor, m.actor.SiteID, merchant.SiteFields{PermittedURLs: &permitted})
	if errs.Is(err, errs.Invalid) {
		return nil // plain http under a public name is not allowed: the page is served, but the modal does not open on it
	}
	if err != nil {
		return err
	}
	m.world.Site, m.world.Credentials.Origins = changed, m.Origins
	return m.saveCredentials()
}

// makeChannels creates the suppliers and the merchants that use them.
func (m *maker) makeChannels(ctx context.Context) error {
	linked, err := m.makeSuppliers(ctx)
	if err != nil {
		return err
	}
	if err := m.nameTestMerchant(ctx); err != nil {
		return err
	}
	if err := m.letTestsProcess(ctx); err != nil {
		return err
	}
	for _, c := range channels {
		if m.Empty && c.name == FailedChannel {
			continue
		}
		_, err := m.app.Channels.ByName(ctx, m.actor, c.name)
		if errs.Is(err, errs.SettingNotFound) {
			currency := money.Currency(c.currency)
			fields := merchant.ChannelFields{Name: &c.name, Mode: &c.mode, Currency: &currency, Suppliers: &linked, OtherProtection: &c.other}
			err = m.makeChannel(ctx, fields)
		}
		if err != nil {
			return err
		}
	}
	page := store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"}
	list, err := m.app.Channels.List(ctx, m.actor, merchants.ChannelFilter{}, page)
	m.world.Channels = list.Items
	return err
}

// makeChannel creates a merchant. In the server-to-server profile it can also take payments.
func (m *maker) makeChannel(ctx context.Context, fields merchant.ChannelFields) error {
	open := *fields.Mode == merchant.ModeProtectionOnly
	if open {
		m.protect(&fields)
	}
	made, err := m.app.Channels.Create(ctx, m.actor, fields)
	if err != nil || !open {
		return err
	}
	return m.letProcess(ctx, made.ID)
}

// protect sets the mode in which payments are protected, which depends on the profile.
func (m *maker) protect(fields *merchant.ChannelFields) {
	mode := merchant.ModeProtectionOnly
	if m.app.Channels.Profile.Processes() {
		live, protected := merchant.ModeLive, merchant.TypeProtected
		mode, fields.AccountType = live, &protected
	}
	fields.Mode = &mode
}

// nameTestMerchant renames the site's first merchant for the demo.
func (m *maker) nameTestMerchant(ctx context.Context) error {
	c, err := m.app.Channels.ByName(ctx, m.actor, firstChannel)
	if errs.Is(err, errs.SettingNotFound) {
		return nil // an earlier start has renamed it
	}
	if err != nil {
		return err
	}
	name := TestChannel
	_, err = m.app.Channels.Change(ctx, m.actor, c.ID, merchant.ChannelFields{Name: &name})
	return err
}

// letTestsProcess lets a new site's test merchant take payments too.
func (m *maker) letTestsProcess(ctx context.Context) error {
	if !m.isNew {
		return nil
	}
	c, err := m.app.Channels.ByName(ctx, m.actor, TestChannel)
	if err != nil {
		return err
	}
	return m.letProcess(ctx, c.ID)
}

// letProcess sets a merchant's processor, in the server-to-server profile.
func (m *maker) letProcess(ctx context.Context, id int64) error {
	if !m.app.Channels.Profile.Processes() {
		return nil
	}
	yes := true
	fields := merchant.ChannelFields{ProcessorFields: merchant.ProcessorFields{ServerToServer: &yes}}
	if _, err := m.app.Channels.Change(ctx, m.actor, id, fields); err != nil {
		return err
	}
	_, err := m.app.Channels.SetGateway(ctx, m.actor, id, onboarding.GatewayFields{
		Processor: processor, Credentials: merchants.Credentials{Key: processorKey},
	})
	return err
}

func (m *maker) makeSuppliers(ctx context.Context) (ids []int64, err error) {
	page := store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"}
	list, err := m.app.Suppliers.List(ctx, m.actor, merchants.SupplierFilter{}, page)
	if err != nil {
		return nil, err
	}
	known := map[string]int64{}
	for _, s := range list.Items {
		known[s.Name] = s.ID
	}
	m.supplied = map[string][]int64{}
	for _, s := range suppliers {
		if known[s.name] == 0 {
			url := "https://" + s.host
			fields := merchant.SupplierFields{Name: &s.name, URL: &url, Category: &s.category, Country: &s.country}
			made, err := m.app.Suppliers.Create(ctx, m.actor, fields)
			if err != nil {
				return nil, err
			}
			known[s.name] = made.ID
		}
		ids = append(ids, known[s.name])
		m.supplied[s.country] = append(m.supplied[s.country], known[s.name])
	}
	return ids, nil
}
