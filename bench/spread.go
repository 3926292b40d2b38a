package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"holdfast/bench/book"
	"holdfast/internal/account/people"
	"holdfast/internal/account/tokens"
	"holdfast/internal/app"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
)

// The sites of -engine citus, and the bookings that each begins with.
const (
	spreadSites    = 100
	spreadBookings = 20
)

// settling is the time that the jobs get to catch up with the sites.
const settling = 90 * time.Second

// onePostgres is the subject that a cluster is compared with: a database without Citus on the coordinator's server.
const onePostgres = "one PostgreSQL"

// spread is the product on one database, with many sites.
type spread struct {
	house
	subject string
	sites   []book.Site
	tokens  []string // of a member of each site
}

// overNodes compares a cluster with one PostgreSQL: the same requests, each to a random one of a hundred sites, alternating between both.
func overNodes(ctx context.Context, b *bench) error {
	if err := buildProduct(ctx, filepath.Join(b.dir, "holdfast")); err != nil {
		return err
	}
	var both []*spread
	for _, subject := range []string{product, onePostgres} {
		s, err := b.spreadOn(ctx, subject)
		if err != nil {
			return err
		}
		if err := s.start(ctx, settings...); err != nil {
			return err
		}
		defer s.server.end()
		both = append(both, s)
	}
	for _, s := range both { // pending work of the jobs would count
		until(ctx, time.Now().Add(settling))
		s.server.standStill()
	}
	var all []figures
	for turn := range b.turns {
		for n := range both[0].kinds(b.callers) {
			for _, s := range both {
				k := s.kinds(b.callers)[n]
				if !b.chosen.MatchString(k.name) {
					continue
				}
				b.house = &s.house
				s.server.goOn()
				f, err := b.measure(ctx, k)
				s.server.standStill()
				if err != nil {
					return fmt.Errorf("%s: %w", s.subject, err)
				}
				f.Subject = s.subject
				b.progress(turn, f)
				all = append(all, f)
			}
		}
	}
	b.result.add(all)
	b.result.fact("sites; servers of the cluster", "", "%d; %d", spreadSites, len(both[0].postmasters))
	return nil
}

// spreadOn creates a database with sites: on the cluster for the product, and without Citus for onePostgres.
func (b *bench) spreadOn(ctx context.Context, subject string) (*spread, error) {
	s := &spread{subject: subject, house: house{program: filepath.Join(b.dir, "holdfast"), dir: filepath.Join(b.dir, "book of "+subject)}}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return nil, err
	}
	err := b.openPostgres(ctx, &s.house)
	if err == nil && subject == product {
		err = b.distribute(ctx, &s.house)
	}
	if err != nil {
		return nil, err
	}
	key, err := s.makeKeys()
	if err != nil {
		return nil, err
	}
	store, service, err := open(ctx, s.database, key, time.Now)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	err = s.furnish(ctx, service)
	b.say("  %d sites on %s in %s", spreadSites, subject, time.Since(began).Round(time.Second))
	service.Close()
	return s, errors.Join(err, store.Close())
}

// furnish creates the sites, with a member of each and an operator.
func (s *spread) furnish(ctx context.Context, service *app.App) (err error) {
	if s.sites, err = book.MakeSites(ctx, service, civil.DayOf(time.Now()), spreadSites, 1, spreadBookings); err != nil {
		return err
	}
	s.Book.SiteID = s.sites[0].ID
	if err := s.people(ctx, service); err != nil {
		return err
	}
	name := "bench"
	for _, site := range s.sites {
		actor := access.System(site.ID)
		member, err := service.Accounts.CreateUser(ctx, actor, people.UserFields{
			Username: site.Path, Email: site.Path + "@example.org", Password: rand.Text(),
		}, access.MemberAdmin, false)
		if err != nil {
			return err
		}
		actor.UserID = member.ID
		_, token, err := service.Tokens.Create(ctx, actor, tokens.TokenFields{Name: &name})
		if err != nil {
			return err
		}
		s.tokens = append(s.tokens, token)
	}
	return nil
}

// kinds are the kinds of requests, each for any site.
func (s *spread) kinds(callers int) []kind {
	atAny := func(method string, ask func(r *mathrand.Rand, site book.Site) (path, body string)) func(r *mathrand.Rand, into []byte) []byte {
		return func(r *mathrand.Rand, into []byte) []byte {
			n := r.IntN(len(s.sites))
			path, body := ask(r, s.sites[n])
			return request(into, method, "/"+s.sites[n].Path+"/rest/svc/v2/"+path, s.tokens[n], []byte(body))
		}
	}
	return []kind{
		{name: getBooking, callers: callers, status: http.StatusOK, make: atAny(http.MethodGet, func(r *mathrand.Rand, site book.Site) (string, string) {
			return fmt.Sprintf("bookings/%d", site.Bookings[r.IntN(len(site.Bookings))]), ""
		})},
		{name: listFirst, callers: callers, status: http.StatusOK, make: atAny(http.MethodGet, func(*mathrand.Rand, book.Site) (string, string) {
			return "bookings?per_page=100", ""
		})},
		{name: createBooking, callers: callers, status: http.StatusCreated, make: atAny(http.MethodPost, func(r *mathrand.Rand, site book.Site) (string, string) {
			return "bookings", fmt.Sprintf(`{"channels":%d,"currencies":"GBP","total":1000000,"date":%q,"countries":"FR","firstname":"Ada",`+
				`"surname":"Lovelace%d","email":"traveller%d@example.org","content":"Seven nights, half board"}`,
				site.ChannelID, day(140+r.IntN(100)), r.IntN(5000), r.IntN(1_000_000))
		})},
		{name: logPayments, callers: callers, status: http.StatusCreated, make: atAny(http.MethodPost, func(r *mathrand.Rand, site book.Site) (string, string) {
			return "transactions", fmt.Sprintf(`{"channels":%d,"currencies":"GBP","total":100,"transaction_types":"purchase","payment_methods":"credit-card",`+
				`"payee_name":"Ada","payee_surname":"Lovelace","payee_email":"ada@example.org","countries":"FR","card_types":"visa",`+
				`"reference":"%x","bookings":[{"id":%d,"currencies":"GBP","total":100}]}`,
				site.ChannelID, r.Uint64(), site.Bookings[r.IntN(len(site.Bookings))])
		})},
	}
}
