package merchants_test

import (
	"maps"
	"testing"

	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/merchants"
	"holdfast/internal/travel"
)

func TestSealedSecretsOfChannels(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, store *db.DB) {
		one, two := siteOf(t, store, "one"), siteOf(t, store, "two")
		a, b := insertChannel(t, store, newChannel(one, "A", "a")), insertChannel(t, store, newChannel(two, "B", "b"))
		c := insertChannel(t, store, newChannel(one, "C", "c"))
		dbtest.Write(t, store, func(tx *db.Tx) error {
			none, err := merchants.ChannelGateway(tx, one, a.ID)
			if none != (merchants.SealedGateway{SiteID: one, ChannelID: a.ID}) {
				t.Errorf("before: %+v", none)
			}
			return err
		})
		for _, set := range []func(tx *db.Tx) error{
			func(tx *db.Tx) error { return merchants.SetTokenizerKey(tx, one, a.ID, "s1.k1.tokenizer") },
			func(tx *db.Tx) error { return merchants.SetGatewayCredentials(tx, one, a.ID, "s1.k1.first") },
			func(tx *db.Tx) error { return merchants.SetGatewayCredentials(tx, one, a.ID, "s1.k2.second") },
			func(tx *db.Tx) error { return merchants.SetGatewayCredentials(tx, two, b.ID, "s1.k2.other") },
			func(tx *db.Tx) error { return merchants.SetTokenizerKey(tx, one, c.ID, "s1.k2.third") },
			func(tx *db.Tx) error { return merchants.SetTokenizerKey(tx, one, c.ID, "") },
		} {
			dbtest.Write(t, store, set)
		}
		dbtest.Write(t, store, func(tx *db.Tx) error {
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
		dbtest.Write(t, store, func(tx *db.Tx) error { return merchants.DeleteChannel(tx, one, a.ID) })
		dbtest.Write(t, store, func(tx *db.Tx) error {
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
	dbtest.OnBothOpen(t, func(t *testing.T, store *db.DB) {
		site := siteOf(t, store, "demo")
		for _, name := range []string{"a", "b", "c"} {
			c := newChannel(site, name, name)
			if name == "c" {
				c.Mode = travel.ModeLive
			}
			insertChannel(t, store, c)
		}
		dbtest.Write(t, store, func(tx *db.Tx) error {
			counts, err := merchants.ModesOfChannels(tx)
			if !maps.Equal(counts, map[travel.AccountMode]int64{travel.ModeDraft: 2, travel.ModeLive: 1}) {
				t.Errorf("%v", counts)
			}
			return err
		})
	})
}
