package merchants_test

import (
	"maps"
	"testing"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

func TestSealedSecretsOfChannels(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		one, two := siteOf(t, db, "one"), siteOf(t, db, "two")
		a, b := insertChannel(t, db, newChannel(one, "A", "a")), insertChannel(t, db, newChannel(two, "B", "b"))
		c := insertChannel(t, db, newChannel(one, "C", "c"))
		dbtest.Write(t, db, func(tx *store.Tx) error {
			none, err := merchants.ChannelGateway(tx, one, a.ID)
			if none != (merchants.SealedGateway{SiteID: one, ChannelID: a.ID}) {
				t.Errorf("before: %+v", none)
			}
			return err
		})
		for _, set := range []func(tx *store.Tx) error{
			func(tx *store.Tx) error { return merchants.SetTokenizerKey(tx, one, a.ID, "s1.k1.tokenizer") },
			func(tx *store.Tx) error { return merchants.SetGatewayCredentials(tx, one, a.ID, "s1.k1.first") },
			func(tx *store.Tx) error { return merchants.SetGatewayCredentials(tx, one, a.ID, "s1.k2.second") },
			func(tx *store.Tx) error { return merchants.SetGatewayCredentials(tx, two, b.ID, "s1.k2.other") },
			func(tx *store.Tx) error { return merchants.SetTokenizerKey(tx, one, c.ID, "s1.k2.third") },
			func(tx *store.Tx) error { return merchants.SetTokenizerKey(tx, one, c.ID, "") },
		} {
			dbtest.Write(t, db, set)
		}
		dbtest.Write(t, db, func(tx *store.Tx) error {
			for _, want := range []merchants.SealedGateway{
				{SiteID: one, ChannelID: a.ID, Credentials: "s1.k2.second", TokenizerKey: "s1.k1.tokenizer"},
				{SiteID: one, ChannelID: c.ID}, {SiteID: two, ChannelID: b.ID, Credentials: "s1.k2.other"},
			} {
				if got, err := merchants.ChannelGateway(tx, want.SiteID, want.ChannelID); got != want || err != nil {
					t.Errorf("%+v, %v, want %+v", got, err, want)
				}
			}
			return nil
		})
		dbtest.Write(t, db, func(tx *store.Tx) error { return merchants.DeleteChannel(tx, one, a.ID) })
		dbtest.Write(t, db, func(tx *store.Tx) error {
			gone, err := merchants.ChannelGateway(tx, one, a.ID)
			if gone.Credentials != "" {
				t.Errorf("of a channel that is gone: %+v", gone)
			}
			return err
		})
	})
}

func TestModesOfChannelsAreCounted(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site := siteOf(t, db, "demo")
		for _, name := range []string{"a", "b", "c"} {
			c := newChannel(site, name, name)
			if name == "c" {
				c.Mode = merchant.ModeLive
			}
			insertChannel(t, db, c)
		}
		dbtest.Write(t, db, func(tx *store.Tx) error {
			counts, err := merchants.ModesOfChannels(tx)
			if !maps.Equal(counts, map[merchant.AccountMode]int64{merchant.ModeDraft: 2, merchant.ModeLive: 1}) {
				t.Errorf("%v", counts)
			}
			return err
		})
	})
}
