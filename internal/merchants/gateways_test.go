package merchants_test

import (
	"maps"
	"slices"
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
		ofA := merchants.SealedGateway{SiteID: one, ChannelID: a.ID, Credentials: "s1.k2.second", TokenizerKey: "s1.k1.tokenizer"}
		want := []merchants.SealedGateway{ofA, {SiteID: one, ChannelID: c.ID}, {SiteID: two, ChannelID: b.ID, Credentials: "s1.k2.other"}}
		dbtest.Write(t, store, func(tx *db.Tx) error {
			var got []merchants.SealedGateway
			for site, channel := int64(0), int64(0); ; { // one at a time
				page, err := merchants.SealedGateways(tx, site, channel, 1)
				if err != nil || len(page) == 0 {
					if !slices.Equal(got, want) {
						t.Errorf("all: %+v", got)
					}
					return err
				}
				got = append(got, page...)
				site, channel = page[0].SiteID, page[0].ChannelID
			}
		})
		anew := ofA
		anew.TokenizerKey = "s1.k2.tokenizer"
		dbtest.Write(t, store, func(tx *db.Tx) error {
			for i, want := range []bool{true, false} { // the second time it is not what it was any more
				if replaced, err := merchants.ReplaceSealed(tx, ofA, anew); err != nil || replaced != want {
					t.Errorf("replaced %d: %t, %v", i, replaced, err)
				}
			}
			counts, err := merchants.SealingKeys(tx)
			if !maps.Equal(counts, map[string]int{"k2": 3}) {
				t.Errorf("keys %v", counts)
			}
			return err
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
