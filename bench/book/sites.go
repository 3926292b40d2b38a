package book

import (
	"context"
	"fmt"

	"holdfast/internal/app"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"

	"golang.org/x/sync/errgroup"
)

// sitesAtOnce is how many sites are created at a time, so that their writes share commits.
const sitesAtOnce = 16

// MakeSites creates n sites through the product. One in paid of them is a sandbox, where a protected merchant needs no approval: it has a
// merchant with bookings, and a payment for the first booking. It returns the sites in the order of their paths.
func MakeSites(ctx context.Context, service *app.App, today civil.Day, n, paid, bookings int) ([]Site, error) {
	list := make([]Site, n)
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(sitesAtOnce)
	for i := range n {
		all.Go(func() (err error) {
			list[i], err = makeSite(ctx, service, fmt.Sprintf("site-%d", i+1), today, i%paid == 0, bookings)
			return err
		})
	}
	return list, all.Wait()
}

// Site is a site that MakeSites has created.
type Site struct {
	ID        int64
	Path      string
	ChannelID int64 // of the merchant with bookings; 0 on other sites
	Bookings  []int64
}

func makeSite(ctx context.Context, service *app.App, path string, today civil.Day, paid bool, bookings int) (s Site, err error) {
	currency, mode := money.Currency("GBP"), merchant.ModeProtectionOnly
	made, err := service.Sites.Create(ctx, access.System(0), merchant.SiteFields{Path: &path, Name: &path, Currency: &currency, Sandbox: paid})
	s = Site{ID: made.ID, Path: path}
	if err != nil || !paid {
		return s, err
	}
	actor := access.System(made.ID)
	c, err := service.Channels.Create(ctx, actor, merchant.ChannelFields{Name: &path, Currency: &currency, Mode: &mode})
	if err != nil {
		return s, err
	}
	s.ChannelID = c.ID
	word, email, country, total, end := "Week", "traveller@example.org", "PT", int64(1_000_000_00), today+100
	for range bookings {
		b, err := service.Bookings.Create(ctx, actor, booking.BookingFields{
			ChannelID: &c.ID, Content: &word, Firstname: &word, Surname: &word, Email: &email, End: &end, Total: &total,
			Currency: &currency, Country: &country,
		})
		if err != nil {
			return s, err
		}
		s.Bookings = append(s.Bookings, b.ID)
	}
	kind, paidTotal := payment.Purchase, int64(100_00)
	_, _, err = service.Payments.Create(ctx, actor, payment.NewTransaction{
		ChannelID: &c.ID, Currency: &currency, Total: &paidTotal, Type: &kind, CardType: "visa",
		Items: &[]payment.Item{{BookingID: s.Bookings[0], Currency: currency, Total: paidTotal}},
	})
	return s, err
}
