package merchants_test

import (
	"fmt"
	"slices"
	"testing"

	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/merchants"
	"holdfast/internal/travel"
)

// firstPage asks for everything there is, by id.
var firstPage = travel.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id", Count: true}

// channelList makes a site whose channels differ in everything that a list can choose or sort by.
func channelList(t *testing.T, db *db.DB) int64 {
	t.Helper()
	site := siteOf(t, db, "demo")
	for i, c := range []travel.Channel{
		{Name: "alpha", Slug: "alpha", Mode: travel.ModeDraft, Currency: "EUR", AccountType: "trust", ExternalID: "m_1"},
		{Name: "Zürich & Söhne", Slug: "z-rich", Mode: travel.ModeTest, Currency: "CHF", AccountType: "trust", ExternalID: "m-1"},
		{Name: "ALPHA 100%", Slug: "alpha-100", Mode: travel.ModeDraft, Currency: "EUR", StatementPeriod: "week"},
		{Name: "beta_one", Slug: "beta-one", Mode: travel.ModeClosed, Currency: "USD", StatementPeriod: "biweek"},
		{Name: "betaXone", Slug: "beta-xone", Mode: travel.ModeProtectionOnly, Currency: "EUR", ExternalID: "M-1"},
		{Name: "Ärzte ohne Eile", Slug: "rzte", Mode: travel.ModeAffiliate, Currency: "JPY"},
		{Name: "Beta back\\slash", Slug: "beta-back", Mode: travel.ModeProtectionOnly, Currency: "EUR"},
	} {
		whole := newChannel(site, c.Name, c.Slug)
		whole.UUID = fmt.Sprint("uuid ", i)
		whole.Mode, whole.Currency, whole.ExternalID = c.Mode, c.Currency, c.ExternalID
		if c.AccountType != "" {
			whole.AccountType = c.AccountType
		}
		if c.StatementPeriod != "" {
			whole.StatementPeriod = c.StatementPeriod
		}
		insertChannel(t, db, whole)
	}
	return site
}

func channelIDs(t *testing.T, store *db.DB, site int64, f travel.ChannelFilter, page travel.Page) (ids []int64, total int64) {
	t.Helper()
	err := store.Read(t.Context(), db.Deployment, func(tx *db.Tx) error {
		list, err := merchants.ChannelsPage(tx, site, f, page)
		ids, total = nil, list.Total
		for _, c := range list.Items {
			ids = append(ids, c.ID)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids, total
}

func TestChannelsAreChosen(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		f    travel.ChannelFilter
		want []int64
	}{
		{"all", travel.ChannelFilter{}, []int64{1, 2, 3, 4, 5, 6, 7}},
		{"include", travel.ChannelFilter{Include: []int64{5, 2, 99}}, []int64{2, 5}},
		{"exclude", travel.ChannelFilter{Exclude: []int64{5, 2, 99}}, []int64{1, 3, 4, 6, 7}},
		{"include and exclude", travel.ChannelFilter{Include: []int64{5, 2}, Exclude: []int64{2}}, []int64{5}},
		{"mode", travel.ChannelFilter{Modes: []travel.AccountMode{"draft"}}, []int64{1, 3}},
		{"modes", travel.ChannelFilter{Modes: []travel.AccountMode{"draft", "closed"}}, []int64{1, 3, 4}},
		{"account type", travel.ChannelFilter{AccountType: "trust"}, []int64{1, 2}},
		{"currency", travel.ChannelFilter{Currency: "EUR"}, []int64{1, 3, 5, 7}},
		{"part of the currency", travel.ChannelFilter{Currency: "u"}, []int64{1, 3, 4, 5, 7}},
		{"a percent sign is no wildcard", travel.ChannelFilter{Currency: "%"}, nil},
		{"external id, exactly", travel.ChannelFilter{ExternalID: "m-1"}, []int64{2}},
		{"part of an external id", travel.ChannelFilter{ExternalID: "m"}, nil},
		{"name without letter case", travel.ChannelFilter{Name: "Alpha"}, []int64{1, 3}},
		{"name in unicode without letter case", travel.ChannelFilter{Name: "ZÜRICH & SÖ"}, []int64{2}},
		{"name that begins with an umlaut", travel.ChannelFilter{Name: "ärzte"}, []int64{6}},
		{"an underscore stands for itself", travel.ChannelFilter{Name: "a_o"}, []int64{4}},
		{"a percent sign stands for itself", travel.ChannelFilter{Name: "0%"}, []int64{3}},
		{"a backslash stands for itself", travel.ChannelFilter{Name: `k\s`}, []int64{7}},
		{"a star stands for anything", travel.ChannelFilter{Name: "BETA*ONE"}, []int64{4, 5}},
		{"stars around", travel.ChannelFilter{Name: "*100*"}, []int64{3}},
		{"statement period", travel.ChannelFilter{StatementPeriod: "biweek"}, []int64{4}},
		{"several at once", travel.ChannelFilter{Name: "beta", Currency: "EUR", Exclude: []int64{7}}, []int64{5}},
	}
	dbtest.OnBothOpen(t, func(t *testing.T, db *db.DB) {
		site := channelList(t, db)
		for _, c := range cases {
			ids, total := channelIDs(t, db, site, c.f, firstPage)
			if !slices.Equal(ids, c.want) || total != int64(len(c.want)) {
				t.Errorf("%s: %v of %d, want %v", c.name, ids, total, c.want)
			}
		}
	})
}

func TestChannelsAreSorted(t *testing.T) {
	t.Parallel()
	cases := []struct {
		by   string
		want []int64
	}{
		{"id", []int64{1, 2, 3, 4, 5, 6, 7}},
		{"name", []int64{1, 3, 7, 4, 5, 2, 6}}, // by bytes of the name in lower case: ä comes after z
		{"slug", []int64{1, 3, 7, 4, 5, 6, 2}},
		{"external_id", []int64{3, 4, 6, 7, 5, 2, 1}},
		{"account_mode", []int64{6, 4, 1, 3, 5, 7, 2}},
		{"currencies", []int64{2, 1, 3, 5, 7, 6, 4}},
	}
	dbtest.OnBothOpen(t, func(t *testing.T, db *db.DB) {
		site := channelList(t, db)
		for _, c := range cases {
			page := firstPage
			page.OrderBy = c.by
			if ids, _ := channelIDs(t, db, site, travel.ChannelFilter{}, page); !slices.Equal(ids, c.want) {
				t.Errorf("by %s: %v, want %v", c.by, ids, c.want)
			}
			// Downwards it is the same order from its end: equal attributes keep their places by id.
			page.Descending = true
			slices.Reverse(c.want)
			if ids, _ := channelIDs(t, db, site, travel.ChannelFilter{}, page); !slices.Equal(ids, c.want) {
				t.Errorf("by %s downwards: %v, want %v", c.by, ids, c.want)
			}
			slices.Reverse(c.want)
		}
		page := firstPage
		page.OrderBy = "include"
		f := travel.ChannelFilter{Include: []int64{6, 2, 4, 2}}
		if ids, _ := channelIDs(t, db, site, f, page); !slices.Equal(ids, []int64{6, 2, 4}) {
			t.Errorf("in the order of include: %v", ids)
		}
	})
}

func TestPagesOfThreeAddUp(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *db.DB) {
		site := channelList(t, db)
		for _, by := range travel.ChannelOrders {
			for _, down := range []bool{false, true} {
				f := travel.ChannelFilter{Include: []int64{7, 1, 6, 2, 5, 3, 4}}
				whole := travel.Page{Number: 1, Size: 100, Offset: -1, OrderBy: by, Descending: down, Count: true}
				want, total := channelIDs(t, db, site, f, whole)
				var got []int64
				for number := 1; number <= 3; number++ {
					page := travel.Page{Number: number, Size: 3, Offset: -1, OrderBy: by, Descending: down, Count: true}
					ids, pageTotal := channelIDs(t, db, site, f, page)
					if pageTotal != total {
						t.Errorf("page %d by %s counts %d, want %d", number, by, pageTotal, total)
					}
					got = append(got, ids...)
				}
				if !slices.Equal(got, want) || len(got) != 7 {
					t.Errorf("pages by %s, downwards %v: %v, want %v", by, down, got, want)
				}
			}
		}
		ids, total := channelIDs(t, db, site, travel.ChannelFilter{}, travel.Page{Number: 1, Size: 3, Offset: 5, OrderBy: "id"})
		if !slices.Equal(ids, []int64{6, 7}) || total != -1 {
			t.Errorf("from offset 5, uncounted: %v of %d, want [6 7] of -1", ids, total)
		}
	})
}
