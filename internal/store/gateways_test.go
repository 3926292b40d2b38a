package store_test

import (
	"maps"
	"slices"
	"testing"

	"holdfast/internal/store"
	"holdfast/internal/travel"
)

func TestSealedSecretsOfChannels(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		one, two := siteOf(t, db, "one"), siteOf(t, db, "two")
		a, b := insertChannel(t, db, newChannel(one, "A", "a")), insertChannel(t, db, newChannel(two, "B", "b"))
		c := insertChannel(t, db, newChannel(one, "C", "c"))
		inTx(t, db, func(tx *store.Tx) error {
			none, err := store.ChannelGateway(tx, one, a.ID)
			if none != (store.SealedGateway{SiteID: one, ChannelID: a.ID}) {
				t.Errorf("before: %+v", none)
			}
			return err
		})
		for _, set := range []func(tx *store.Tx) error{
			func(tx *store.Tx) error { return store.SetTokenizerKey(tx, one, a.ID, "s1.k1.tokenizer") },
			func(tx *store.Tx) error { return store.SetGatewayCredentials(tx, one, a.ID, "s1.k1.first") },
			func(tx *store.Tx) error { return store.SetGatewayCredentials(tx, one, a.ID, "s1.k2.second") },
			func(tx *store.Tx) error { return store.SetGatewayCredentials(tx, two, b.ID, "s1.k2.other") },
			func(tx *store.Tx) error { return store.SetTokenizerKey(tx, one, c.ID, "s1.k2.third") },
			func(tx *store.Tx) error { return store.SetTokenizerKey(tx, one, c.ID, "") },
		} {
			inTx(t, db, set)
		}
		ofA := store.SealedGateway{SiteID: one, ChannelID: a.ID, Credentials: "s1.k2.second", TokenizerKey: "s1.k1.tokenizer"}
		want := []store.SealedGateway{ofA, {SiteID: one, ChannelID: c.ID}, {SiteID: two, ChannelID: b.ID, Credentials: "s1.k2.other"}}
		inTx(t, db, func(tx *store.Tx) error {
			var got []store.SealedGateway
			for site, channel := int64(0), int64(0); ; { // one at a time
				page, err := store.SealedGateways(tx, site, channel, 1)
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
		inTx(t, db, func(tx *store.Tx) error {
			for i, want := range []bool{true, false} { // the second time it is not what it was any more
				if replaced, err := store.ReplaceSealed(tx, ofA, anew); err != nil || replaced != want {
					t.Errorf("replaced %d: %t, %v", i, replaced, err)
				}
			}
			counts, err := store.SealingKeys(tx)
			if !maps.Equal(counts, map[string]int{"k2": 3}) {
				t.Errorf("keys %v", counts)
			}
			return err
		})
		inTx(t, db, func(tx *store.Tx) error { return store.DeleteChannel(tx, one, a.ID) })
		inTx(t, db, func(tx *store.Tx) error {
			gone, err := store.ChannelGateway(tx, one, a.ID)
			if gone.Credentials != "" {
				t.Errorf("of a channel that is gone: %+v", gone)
			}
			return err
		})
	})
}

func TestModesOfChannelsAreCounted(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		site := siteOf(t, db, "demo")
		for _, name := range []string{"a", "b", "c"} {
			c := newChannel(site, name, name)
			if name == "c" {
				c.Mode = travel.ModeLive
			}
			insertChannel(t, db, c)
		}
		inTx(t, db, func(tx *store.Tx) error {
			counts, err := store.ModesOfChannels(tx)
			if !maps.Equal(counts, map[travel.AccountMode]int64{travel.ModeDraft: 2, travel.ModeLive: 1}) {
				t.Errorf("%v", counts)
			}
			return err
		})
	})
}
