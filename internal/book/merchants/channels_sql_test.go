package merchants_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// siteOf creates a site with the given path.
func siteOf(t *testing.T, db *store.DB, path string) int64 {
	t.Helper()
	var id int64
	dbtest.Write(t, db, func(tx *store.Tx) error {
		site, err := dbtest.InsertSite(tx, merchant.Site{Path: path, Name: path, Policy: terms.DefaultPolicy("GBP")})
		id = site.ID
		return err
	})
	return id
}

// newChannel is a channel that the store has not seen.
func newChannel(siteID int64, name, slug string) merchant.Channel {
	return merchant.Channel{
		SiteID: siteID, UUID: fmt.Sprintf("uuid of %s in %d", name, siteID), Name: name, Slug: slug,
		AccountType: "protected-processing", Mode: merchant.ModeDraft, ProtectionType: "trust-travel", Currency: "EUR",
		Language: "enGB", StatementPeriod: "month", SealedSecret: "secret",
	}
}

func insertChannel(t *testing.T, db *store.DB, c merchant.Channel) merchant.Channel {
	t.Helper()
	var made merchant.Channel
	dbtest.Write(t, db, func(tx *store.Tx) (err error) {
		made, err = merchants.InsertChannel(tx, c)
		return err
	})
	return made
}

func insertSupplier(t *testing.T, db *store.DB, s merchant.Supplier) merchant.Supplier {
	t.Helper()
	var made merchant.Supplier
	dbtest.Write(t, db, func(tx *store.Tx) (err error) {
		made, err = merchants.InsertSupplier(tx, s)
		return err
	})
	return made
}

func insertBooking(t *testing.T, db *store.DB, c merchant.Channel, currency money.Currency) error {
	t.Helper()
	return db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
		_, err := bookings.Insert(tx, booking.Booking{
			SiteID: c.SiteID, UUID: fmt.Sprintf("booking in %d", c.ID), ChannelID: c.ID, Currency: currency, Total: 100,
			Start: civil.NoDay, End: 20_000,
		})
		return err
	})
}

func channelNow(t *testing.T, db *store.DB, siteID, id int64) merchant.Channel {
	t.Helper()
	var found merchant.Channel
	err := db.Read(t.Context(), store.Deployment, func(tx *store.Tx) (err error) {
		found, err = merchants.Channel(tx, siteID, id)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func sameChannel(a, b merchant.Channel) bool { return fmt.Sprintf("%+v", a) == fmt.Sprintf("%+v", b) }

func TestAChannelIsReadAsItWasStored(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site := siteOf(t, db, "demo")
		second := insertSupplier(t, db, merchant.Supplier{SiteID: site, Name: "Second"})
		first := insertSupplier(t, db, merchant.Supplier{SiteID: site, Name: "First"})
		in := newChannel(site, "Škoda Reisen ☀", "koda-reisen")
		in.Suppliers = []int64{first.ID, second.ID, first.ID}
		in.PrimaryMail, in.MailBCC, in.ReceiptLabel = "a@example.com, b@example.com", true, "Škoda"
		in.ExternalID, in.StatusOverride, in.StatementPeriod = "m-1", "agent", "week"
		in.Locked, in.WasTest, in.Language = true, true, "lvLV"
		in.ProcessorConfig = merchant.ProcessorConfig{
			CardholderPresent: true, ServerToServer: true, Processor: "sandbox", TokenizerID: "tok", TokenizerKeyEnd: "9f2c",
			BeneficiaryID: "BEN", SettlementCurrency: "USD", ChargebackMail: "c@example.com", PayoutMinimum: 1 << 40, Descriptor: "SHOP",
		}
		made := insertChannel(t, db, in)
		if made.ID == 0 || made.Version != 1 || !made.CreatedAt.Equal(dbtest.Start) || !made.ModifiedAt.Equal(dbtest.Start) {
			t.Errorf("stored as %+v", made)
		}
		if !slices.Equal(made.Suppliers, []int64{second.ID, first.ID}) {
			t.Errorf("suppliers %v: want each once, in order", made.Suppliers)
		}
		if found := channelNow(t, db, site, made.ID); !sameChannel(found, made) {
			t.Errorf("read\n%+v\nstored\n%+v", found, made)
		}
	})
}

func TestAChannelOfAnotherSiteDoesNotExist(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		mine, other := siteOf(t, db, "mine"), siteOf(t, db, "other")
		c := insertChannel(t, db, newChannel(other, "Theirs", "theirs"))
		for name, fn := range map[string]func(tx *store.Tx) error{
			"Channel":       func(tx *store.Tx) error { _, err := merchants.Channel(tx, mine, c.ID); return err },
			"LockChannel":   func(tx *store.Tx) error { _, err := merchants.LockChannel(tx, mine, c.ID); return err },
			"ChannelByName": func(tx *store.Tx) error { _, err := merchants.ChannelByName(tx, mine, c.Name); return err },
			"DeleteChannel": func(tx *store.Tx) error { return merchants.DeleteChannel(tx, mine, c.ID) },
		} {
			if err := db.Write(t.Context(), store.Deployment, fn); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: %v, want ErrNotFound", name, err)
			}
		}
		dbtest.Write(t, db, func(tx *store.Tx) error {
			list, err := merchants.ChannelsPage(tx, mine, merchants.ChannelFilter{}, store.Page{Number: 1, Size: 3, Offset: -1, Count: true})
			if len(list.Items) != 0 || list.Total != 0 {
				t.Errorf("the list of another site has %d of %d channels", len(list.Items), list.Total)
			}
			return err
		})
	})
}

func TestSlugsAreUniqueInTheSite(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site, other := siteOf(t, db, "demo"), siteOf(t, db, "other")
		// A slug that only begins alike, and one that looks like a taken suffix.
		insertChannel(t, db, newChannel(site, "a", "alpine-lodge"))
		insertChannel(t, db, newChannel(site, "b", "alpine-3"))
		for i, want := range []string{"alpine", "alpine-2", "alpine-4"} {
			made := insertChannel(t, db, newChannel(site, fmt.Sprint("c", i), "alpine"))
			if made.Slug != want {
				t.Errorf("slug %q, want %q", made.Slug, want)
			}
		}
		if made := insertChannel(t, db, newChannel(other, "d", "alpine")); made.Slug != "alpine" {
			t.Errorf("another site begins anew, and not with %q", made.Slug)
		}
	})
}

func TestSlugsAreUniqueWhateverRunsAtOnce(t *testing.T) {
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		const writers = 12
		site := siteOf(t, db, "demo")
		slugs := make([]string, writers)
		var wg sync.WaitGroup
		for i := range writers {
			wg.Go(func() {
				err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
					made, err := merchants.InsertChannel(tx, newChannel(site, fmt.Sprint("Same ", i), "same"))
					slugs[i] = made.Slug
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		slices.Sort(slugs)
		want := []string{"same"}
		for n := 2; n <= writers; n++ {
			want = append(want, fmt.Sprintf("same-%d", n))
		}
		slices.Sort(want)
		if !slices.Equal(slugs, want) {
			t.Errorf("slugs %v, want %v", slugs, want)
		}
	})
}

func TestAChannelIsChanged(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site := siteOf(t, db, "demo")
		supplier := insertSupplier(t, db, merchant.Supplier{SiteID: site, Name: "Supplier"})
		made := insertChannel(t, db, newChannel(site, "Before", "before"))
		var changed merchant.Channel
		dbtest.Write(t, db, func(tx *store.Tx) error {
			c, err := merchants.LockChannel(tx, site, made.ID)
			if err != nil {
				return err
			}
			if c.Version != made.Version+1 {
				t.Errorf("locked at version %d, want %d", c.Version, made.Version+1)
			}
			c.Name, c.AccountType, c.Mode, c.ProtectionType = "After", "trust", merchant.ModeClosed, "svcu-management"
			c.Currency, c.Language, c.PrimaryMail, c.MailBCC = "JPY", "jaJA", "a@example.com", true
			c.ReceiptLabel, c.ExternalID, c.StatusOverride = "Label", "m-2", "closed"
			c.StatementPeriod, c.Locked, c.Suppliers = "biweek", true, []int64{supplier.ID}
			changed, err = merchants.UpdateChannel(tx, c)
			return err
		})
		found := channelNow(t, db, site, made.ID)
		if !sameChannel(found, changed) || found.Name != "After" || found.Slug != "before" {
			t.Errorf("read\n%+v\nchanged to\n%+v", found, changed)
		}
		names := map[int64]string{}
		dbtest.Write(t, db, func(tx *store.Tx) (err error) {
			names, err = ledger.ChannelNamesAt(tx, site, dbtest.Start)
			return err
		})
		if names[made.ID] != "After" {
			t.Errorf("the channel is on file as %q", names[made.ID])
		}
	})
}

func TestWritersOfOneChannelTakeTurns(t *testing.T) {
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		const writers = 10
		site := siteOf(t, db, "demo")
		made := insertChannel(t, db, newChannel(site, "Counted", "counted"))
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() {
				err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
					c, err := merchants.LockChannel(tx, site, made.ID)
					if err != nil {
						return err
					}
					c.ExternalID += "x"
					_, err = merchants.UpdateChannel(tx, c)
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		found := channelNow(t, db, site, made.ID)
		if len(found.ExternalID) != writers || found.Version != made.Version+writers {
			t.Errorf("after %d changes: %q at version %d", writers, found.ExternalID, found.Version)
		}
	})
}

func TestBookingsHoldTheirChannel(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site := siteOf(t, db, "demo")
		c := insertChannel(t, db, newChannel(site, "Held", "held"))
		if err := insertBooking(t, db, c, "EUR"); err != nil {
			t.Fatal(err)
		}
		var has bool
		dbtest.Write(t, db, func(tx *store.Tx) (err error) {
			has, err = bookings.ChannelHasAny(tx, site, c.ID)
			return err
		})
		if !has {
			t.Error("the channel is said to have no bookings")
		}
		err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error { return merchants.DeleteChannel(tx, site, c.ID) })
		if !errors.Is(err, store.ErrConflict) {
			t.Errorf("deleting it: %v, want ErrConflict", err)
		}
		err = db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			c.Currency = "USD"
			_, err := merchants.UpdateChannel(tx, c)
			return err
		})
		if !errors.Is(err, store.ErrConflict) {
			t.Errorf("changing its currency: %v, want ErrConflict", err)
		}
		if err := insertBooking(t, db, insertChannel(t, db, newChannel(site, "Free", "free")), "USD"); !errors.Is(err, store.ErrConflict) {
			t.Errorf("a booking in another currency: %v, want ErrConflict", err)
		}
	})
}

func TestAChannelWithoutBookingsIsDeleted(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site := siteOf(t, db, "demo")
		supplier := insertSupplier(t, db, merchant.Supplier{SiteID: site, Name: "Supplier"})
		in := newChannel(site, "Gone", "gone")
		in.Suppliers = []int64{supplier.ID}
		c := insertChannel(t, db, in)
		dbtest.Write(t, db, func(tx *store.Tx) error { return merchants.DeleteChannel(tx, site, c.ID) })
		err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error { return merchants.DeleteChannel(tx, site, c.ID) })
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("deleting it again: %v, want ErrNotFound", err)
		}
		// Nothing refers to the supplier any more.
		dbtest.Write(t, db, func(tx *store.Tx) error { return merchants.DeleteSupplier(tx, site, supplier.ID) })
	})
}

func TestANameOfTwoChannelsNamesNone(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site := siteOf(t, db, "demo")
		other := insertChannel(t, db, newChannel(site, "TWIN", "twin-capital"))
		oldest := newChannel(site, "Twin", "twin")
		oldest = insertChannel(t, db, oldest)
		younger := newChannel(site, "Twin", "twin")
		younger.UUID = "another"
		younger = insertChannel(t, db, younger)
		dbtest.Write(t, db, func(tx *store.Tx) error {
			found, err := merchants.ChannelByName(tx, site, "Twin")
			f, _ := errors.AsType[*errs.Error](err)
			if ids := fmt.Sprintf("%d, %d", oldest.ID, younger.ID); f == nil || !strings.Contains(f.Params["channel"], ids) {
				t.Errorf("found %d %q, and the error is %v", found.ID, found.Name, err)
			}
			if found, err = merchants.ChannelByName(tx, site, "TWIN"); found.ID != other.ID {
				t.Errorf("found %d %q, want %d", found.ID, found.Name, other.ID)
			}
			return err
		})
	})
}
