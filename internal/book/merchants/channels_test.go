package merchants_test

import (
	"fmt"
	"sync"
	"testing"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// While bookings are created in a channel, its currency changes and it is deleted concurrently. Whatever the order, no
// call fails with an internal error, and no booking is left in a channel with another currency or in none.
func TestNoInterleavingPartsBookingsFromTheirChannel(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		for round := range 8 {
			c := w.Channel(merchant.ModeDraft, "EUR")
			failures := make([]error, 8)
			var wg sync.WaitGroup
			for i := range failures {
				wg.Go(func() {
					switch i % 4 {
					case 0:
						failures[i] = bookIn(t, w, c.ID, "EUR")
					case 1:
						failures[i] = bookIn(t, w, c.ID, "USD")
					case 2:
						_, failures[i] = w.App.Channels.Change(t.Context(), w.Actor, c.ID, merchant.ChannelFields{Currency: new(money.Currency("USD"))})
					default:
						failures[i] = w.App.Channels.Delete(t.Context(), w.Actor, c.ID, 0)
					}
				})
			}
			wg.Wait()
			for i, err := range failures {
				switch kind := errs.KindOf(err); {
				case err == nil, kind == errs.Invalid, kind == errs.SettingNotFound, kind == errs.InUse:
				default:
					t.Errorf("round %d, caller %d: %v", round, i, err)
				}
			}
			list, err := w.App.Bookings.List(t.Context(), w.Actor, bookings.BookingFilter{Channels: []int64{c.ID}},
				store.Page{Number: 1, Size: 100, Offset: -1})
			if err != nil {
				t.Fatal(err)
			}
			left, err := w.App.Channels.Get(t.Context(), w.Actor, c.ID)
			for _, b := range list.Items {
				if err != nil || b.Currency != left.Currency {
					t.Errorf("round %d: a booking in %s is in a channel in %q (%v)", round, b.Currency, left.Currency, err)
				}
			}
		}
	})
}

func TestWhoSeesTheSecretOfAChannel(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeDraft, "EUR")
		for role, sees := range map[access.Role]bool{
			access.ReadOnly: false, access.Finance: false, access.MemberAdmin: true, access.Operator: true,
		} {
			actor := access.Actor{SiteID: w.Site.ID, Role: role}
			one, err := w.App.Channels.Get(t.Context(), actor, c.ID)
			if err != nil {
				t.Fatal(err)
			}
			named, err := w.App.Channels.ByName(t.Context(), actor, c.Name)
			if err != nil {
				t.Fatal(err)
			}
			list, err := w.App.Channels.List(t.Context(), actor, merchants.ChannelFilter{}, store.Page{Number: 1, Size: 3, Offset: -1})
			if err != nil {
				t.Fatal(err)
			}
			for how, found := range map[string]merchant.Channel{"Get": one, "ByName": named, "List": list.Items[0]} {
				secret, err := w.App.Channels.Secret(found)
				if (secret != "") != sees || err != nil {
					t.Errorf("%s by %s: the secret is %d characters long, %v", how, role, len(secret), err)
				}
			}
		}
	})
}

func TestSecretsOfChannelsDiffer(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		seen := map[string]bool{}
		for i := range 3 {
			made, err := w.App.Channels.Create(t.Context(), w.Actor, merchant.ChannelFields{
				Name: new(fmt.Sprint("Channel ", i)), Currency: new(money.Currency("EUR")),
			})
			if err != nil {
				t.Fatal(err)
			}
			secret, err := w.App.Channels.Secret(made)
			if len(secret) < 20 || seen[secret] || seen[made.UUID] || err != nil {
				t.Errorf("secret of %d characters, uuid %s, %v", len(secret), made.UUID, err)
			}
			seen[secret], seen[made.UUID] = true, true
		}
	})
}

// bookIn tries to create a booking in a channel, in a currency.
func bookIn(t *testing.T, w *apptest.World, channel int64, currency money.Currency) error {
	_, err := w.App.Bookings.Create(t.Context(), w.Actor, booking.BookingFields{
		ChannelID: &channel, Content: new("A week"), Firstname: new("Ada"), Surname: new("Lovelace"),
		Email: new("ada@example.com"), End: new(civil.Day(20_000)), Total: new(int64(100)), Currency: &currency, Country: new("FR"),
	})
	return err
}
