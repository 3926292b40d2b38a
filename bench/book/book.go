// Package book makes a large book for benchmarks. It inserts the rows directly into the database, because the API would
// take hours, and then runs the product's own jobs. `holdfast verify` passes on such a book; a test checks this. The
// package is not part of the program. Start reading at Make.
package book

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"holdfast/internal/app"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/store"
	"holdfast/internal/store/catalog"
)

// Size is the size of a book. Bookings are in date order and spread evenly over channels, schemes, countries, suppliers
// and travel days. The last ones are a few days old.
type Size struct {
	Bookings int64
	Payments int64 // per booking, all on one day, as if each traveller paid a part
	Cards    bool  // payments have the last four digits of a card and an auth code
	Channels int   // 0 means Channels
}

// Properties of all books. Channels cycle through EUR, GBP and USD. The policy's currency is GBP.
const (
	Channels  = 100
	Suppliers = 20
	Days      = 900
	SitePath  = "bench"

	perWrite       = 5000   // bookings per transaction: the more, the fewer pages are written twice
	deltasPerPiece = 40_000 // batch size of a fold
	patience       = 20     // attempts of a write on a busy machine
)

func (s Size) channels() int { return cmp.Or(s.Channels, Channels) }

// Book is a book that was made.
type Book struct {
	Size
	SiteID, PolicyID int64
	FirstChannel     int64 // the ids of the other channels follow
	from             int64 // the day of the first payments
}

// Make creates the site bench and its book in a database without one, and calls progress with the number of bookings
// written so far. The exposure buckets are not folded yet: see Fold.
func Make(ctx context.Context, db *store.DB, service *app.App, today civil.Day, size Size, progress func(done int64)) (Book, error) {
	b := Book{Size: size, from: int64(today) - Days - 5}
	path, name, currency := SitePath, "Bench", money.Currency("GBP")
	site, err := service.Sites.Create(ctx, access.System(0), merchant.SiteFields{
		Path: &path, Name: &name, Currency: &currency, Sandbox: true,
	})
	if err != nil {
		return b, err
	}
	b.SiteID, b.PolicyID = site.ID, site.Policy.ID
	if err := b.prepare(ctx, db, service, today); err != nil {
		return b, err
	}
	step, tries := int64(perWrite), 0
	for first := int64(1); first <= b.Bookings; {
		last := min(b.Bookings, first+step-1)
		err := db.Write(ctx, store.Deployment, func(tx *store.Tx) error { return b.load(tx, first, last) })
		if err != nil { // a write times out after five seconds: on a busy machine, put fewer bookings into one
			if step, tries = max(1, step/2), tries+1; tries > patience || ctx.Err() != nil {
				return b, err
			}
			continue
		}
		first, tries = last+1, 0
		progress(last)
	}
	return b, db.Write(ctx, store.Deployment, b.count)
}

// prepare creates what the bookings need: rates, channels and suppliers.
func (b *Book) prepare(ctx context.Context, db *store.DB, service *app.App, today civil.Day) error {
	if err := db.Write(ctx, store.Deployment, b.ratesBefore); err != nil {
		return err
	}
	if err := b.addNames(ctx, service); err != nil {
		return err
	}
	var fixings []fx.Fixing
	for c, text := range map[money.Currency]string{"GBP": "0.85365", "USD": "1.0852"} {
		rate, err := money.ParseRate(text)
		if err != nil {
			return err
		}
		fixings = append(fixings, fx.Fixing{Provider: fx.ECB, Day: today - 1, Currency: c, Rate: rate})
	}
	_, err := service.Rates.Add(ctx, access.System(b.SiteID), fixings)
	return err
}

// ratesBefore stores the exchange rates of the book, dated the day before it begins. Loaded rows have no digests.
func (b *Book) ratesBefore(tx *store.Tx) error {
	day := civil.Day(b.from - 1)
	if _, err := tx.Exec(`INSERT INTO fixings (site_id, provider, currency, day, rate, recorded_at, quote_id)
		VALUES (0, 'ecb', 'GBP', $1, '0.85365', $2, ''), (0, 'ecb', 'USD', $1, '1.0852', $2, '')`, int64(day), store.Micros(day.Start())); err != nil {
		return err
	}
	_, err := tx.Exec(`UPDATE fact_starts SET up_to = $1`, b.from+b.Bookings*b.Payments+1_000_000_000_000)
	return err
}

// addNames creates channels and suppliers.
func (b *Book) addNames(ctx context.Context, service *app.App) error {
	actor := access.System(b.SiteID)
	for i := range b.channels() {
		name, mode := "Channel "+strconv.Itoa(i), merchant.ModeProtectionOnly
		currency := b.Currency(i)
		c, err := service.Channels.Create(ctx, actor, merchant.ChannelFields{Name: &name, Currency: &currency, Mode: &mode})
		if err != nil {
			return err
		}
		if i == 0 {
			b.FirstChannel = c.ID
		}
	}
	for i := range Suppliers {
		name := "Supplier " + strconv.Itoa(i)
		if _, err := service.Suppliers.Create(ctx, actor, merchant.SupplierFields{Name: &name}); err != nil {
			return err
		}
	}
	return nil
}

// load inserts the bookings numbered first to last. It breaks the rule that only its owner writes to a table.
func (b *Book) load(tx *store.Tx, first, last int64) error {
	for _, statement := range statements {
		_, err := tx.Exec(numberedBook+statement, b.SiteID, first, last, b.FirstChannel, b.channels(), Suppliers, b.from, Days,
			b.Bookings, b.PolicyID, b.Payments)
		if err != nil {
			return fmt.Errorf("%w, in %.60s", err, statement)
		}
	}
	if !b.Cards {
		return nil
	}
	_, err := tx.Exec(`UPDATE transactions SET last_four = SUBSTR('' || (10000 + id % 10000), 2), auth_code = '' || (100000 + id % 900000)
		WHERE site_id = $1 AND id BETWEEN $2 AND $3`, b.SiteID, first, last)
	return err
}

// count moves the id counters of the database past the book.
func (b *Book) count(tx *store.Tx) error {
	for table, last := range map[string]int64{
		"bookings": b.Bookings, "transactions": b.Bookings, "payments": b.Payments * (b.Bookings + 1),
	} {
		if err := tx.Catalog().Whole(catalog.Table{Name: table, Counter: "id"}).SetCounter(last); err != nil {
			return err
		}
	}
	return nil
}

// Paid is a payment of a book.
type Paid struct {
	Reference, Currency, LastFour, AuthCode string
	Total                                   int64
	Day                                     civil.Day
}

// Sample reads so many payments, spread evenly over the book.
func (b *Book) Sample(ctx context.Context, db *store.DB, count int64) (list []Paid, err error) {
	err = db.Read(ctx, b.SiteID, func(tx *store.Tx) error {
		list = nil
		return tx.Query(`SELECT t.reference, t.currencies, t.total, t.last_four, t.auth_code, t.effective_at / 86400000000 FROM transactions t
			WHERE t.site_id = $1 AND (t.id - 1) % $2 = 0 ORDER BY t.id LIMIT $3`, []any{b.SiteID, max(1, b.Bookings/count), count},
			func(scan func(dest ...any) error) error {
				var p Paid
				err := scan(&p.Reference, &p.Currency, &p.Total, &p.LastFour, &p.AuthCode, &p.Day)
				list = append(list, p)
				return err
			})
	})
	return list, err
}

// Fold fills the exposure buckets of a book as the job does, but in larger batches, because nobody else is waiting.
// Batches of the job's size rewrite the same blocks many times: a book of 10,000,000 bookings took an hour and a half.
func Fold(ctx context.Context, service *app.App, siteID int64) error {
	for folded := 1; folded > 0; {
		var err error
		if folded, err = service.Buckets.FoldSite(ctx, siteID, deltasPerPiece); err != nil {
			return err
		}
	}
	return nil
}

// Currency is the base currency of a channel. The first channel is 0.
func (b *Book) Currency(channel int) money.Currency {
	return []money.Currency{"EUR", "GBP", "USD"}[channel%3]
}
