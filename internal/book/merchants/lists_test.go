package merchants_test

import (
	"fmt"
	"slices"
	"testing"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// firstPage requests everything, by id.
var firstPage = store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id", Count: true}

// channelList creates a site whose channels differ in everything by which a list can filter or sort.
func channelList(t *testing.T, db *store.DB) int64 {
	t.Helper()
	site := siteOf(t, db, "demo")
	for i, c := range []merchant.Channel{
		{Name: "alpha", Slug: "alpha", Mode: merchant.ModeDraft, Currency: "EUR", AccountType: "trust", ExternalID: "m_1"},
		{Name: "Zürich & Söhne", Slug: "z-rich", Mode: merchant.ModeTest, Currency: "CHF", AccountType: "trust", ExternalID: "m-1"},
		{Name: "ALPHA 100%", Slug: "alpha-100", Mode: merchant.ModeDraft, Currency: "EUR", StatementPeriod: "week"},
		{Name: "beta_one", Slug: "beta-one", Mode: merchant.ModeClosed, Currency: "USD", StatementPeriod: "biweek"},
		{Name: "betaXone", Slug: "beta-xone", Mode: merchant.ModeProtectionOnly, Currency: "EUR", ExternalID: "M-1"},
		{Name: "Ärzte ohne Eile", Slug: "rzte", Mode: merchant.ModeAffiliate, Currency: "JPY"},
		{Name: "Beta back\\slash", Slug: "beta-back", Mode: merchant.ModeProtectionOnly, Currency: "EUR"},
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

func channelIDs(t *testing.T, db *store.DB, site int64, f merchants.ChannelFilter, page store.Page) (ids []int64, total int64) {
	t.Helper()
	err := db.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
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
		f    merchants.ChannelFilter
		want []int64
	}{
		{"all", merchants.ChannelFilter{}, []int64{1, 2, 3, 4, 5, 6, 7}},
		{"search by name", merchants.ChannelFilter{Search: "BETA"}, []int64{4, 5, 7}},
		{"search by external id", merchants.ChannelFilter{Search: "m-1"}, []int64{2, 5}},
		{"search by number", merchants.ChannelFilter{Search: "6"}, []int64{6}},
		{"mode", merchants.ChannelFilter{Modes: []merchant.AccountMode{"draft"}}, []int64{1, 3}},
		{"modes", merchants.ChannelFilter{Modes: []merchant.AccountMode{"draft", "closed"}}, []int64{1, 3, 4}},
		{"account type", merchants.ChannelFilter{AccountType: "trust"}, []int64{1, 2}},
		{"currency", merchants.ChannelFilter{Currency: "EUR"}, []int64{1, 3, 5, 7}},
		{"part of the currency", merchants.ChannelFilter{Currency: "u"}, []int64{1, 3, 4, 5, 7}},
		{"a percent sign is no wildcard", merchants.ChannelFilter{Currency: "%"}, nil},
		{"external id, exactly", merchants.ChannelFilter{ExternalID: "m-1"}, []int64{2}},
		{"part of an external id", merchants.ChannelFilter{ExternalID: "m"}, nil},
		{"name without letter case", merchants.ChannelFilter{Name: "Alpha"}, []int64{1, 3}},
		{"name in unicode without letter case", merchants.ChannelFilter{Name: "ZÜRICH & SÖ"}, []int64{2}},
		{"name that begins with an umlaut", merchants.ChannelFilter{Name: "ärzte"}, []int64{6}},
		{"an underscore stands for itself", merchants.ChannelFilter{Name: "a_o"}, []int64{4}},
		{"a percent sign stands for itself", merchants.ChannelFilter{Name: "0%"}, []int64{3}},
		{"a backslash stands for itself", merchants.ChannelFilter{Name: `k\s`}, []int64{7}},
		{"a star stands for anything", merchants.ChannelFilter{Name: "BETA*ONE"}, []int64{4, 5}},
		{"stars around", merchants.ChannelFilter{Name: "*100*"}, []int64{3}},
		{"statement period", merchants.ChannelFilter{StatementPeriod: "biweek"}, []int64{4}},
		{"several at once", merchants.ChannelFilter{Name: "beta", Currency: "EUR", Modes: []merchant.AccountMode{merchant.ModeProtectionOnly}}, []int64{5, 7}},
	}
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site := channelList(t, db)
		for _, c := range cases {
			ids, total := channelIDs(t, db, site, c.f, firstPage)
			if !slices.Equal(ids, c.want) || total != int64(len(c.want)) {
				t.Errorf("%s: %v of %d, want %v", c.name, ids, total, c.want)
			}
		}
		for _, c := range []struct {
			include, exclude, want []int64
		}{
			{[]int64{5, 2, 99}, nil, []int64{2, 5}},
			{nil, []int64{5, 2, 99}, []int64{1, 3, 4, 6, 7}},
			{[]int64{5, 2}, []int64{2}, []int64{5}},
		} {
			page := firstPage
			page.Include, page.Exclude = c.include, c.exclude
			if ids, _ := channelIDs(t, db, site, merchants.ChannelFilter{}, page); !slices.Equal(ids, c.want) {
				t.Errorf("include %v, exclude %v: %v, want %v", c.include, c.exclude, ids, c.want)
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
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site := channelList(t, db)
		for _, c := range cases {
			page := firstPage
			page.OrderBy = c.by
			if ids, _ := channelIDs(t, db, site, merchants.ChannelFilter{}, page); !slices.Equal(ids, c.want) {
				t.Errorf("by %s: %v, want %v", c.by, ids, c.want)
			}
			// Downwards it is the same order from its end: equal attributes keep their places by id.
			page.Descending = true
			slices.Reverse(c.want)
			if ids, _ := channelIDs(t, db, site, merchants.ChannelFilter{}, page); !slices.Equal(ids, c.want) {
				t.Errorf("by %s downwards: %v, want %v", c.by, ids, c.want)
			}
			slices.Reverse(c.want)
		}
		page := firstPage
		page.OrderBy = "include"
		page.Include = []int64{6, 2, 4, 2}
		if ids, _ := channelIDs(t, db, site, merchants.ChannelFilter{}, page); !slices.Equal(ids, []int64{6, 2, 4}) {
			t.Errorf("in the order of include: %v", ids)
		}
	})
}

func TestPagesOfThreeAddUp(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site := channelList(t, db)
		f := merchants.ChannelFilter{}
		for _, by := range append([]string{"id", "modified", "include"}, merchants.ChannelOrders...) {
			for _, down := range []bool{false, true} {
				all := []int64{7, 1, 6, 2, 5, 3, 4}
				whole := store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: by, Descending: down, Count: true, Include: all}
				want, total := channelIDs(t, db, site, f, whole)
				var got []int64
				for number := 1; number <= 3; number++ {
					page := store.Page{Number: number, Size: 3, Offset: -1, OrderBy: by, Descending: down, Count: true, Include: all}
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
		ids, total := channelIDs(t, db, site, merchants.ChannelFilter{}, store.Page{Number: 1, Size: 3, Offset: 5, OrderBy: "id"})
		if !slices.Equal(ids, []int64{6, 7}) || total != -1 {
			t.Errorf("from offset 5, uncounted: %v of %d, want [6 7] of -1", ids, total)
		}
	})
}
