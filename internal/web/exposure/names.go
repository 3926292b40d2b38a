package exposure

import (
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/lib/i18n"
	"holdfast/internal/store"
	"holdfast/internal/web/kit"
)

// naming has the names used in reports.
type naming struct {
	policy    money.Currency
	channels  []merchant.Channel // the site's first merchants, by name
	more      bool               // there are others
	suppliers map[int64]string   // those needed by the page
}

// offered is the number of merchants to choose from. Others can be reached through the report's rows.
const offered = 100

// naming reads the names for the form.
func (p *pages) naming(v *kit.Visit, s *settings) (*naming, error) {
	n := &naming{suppliers: map[int64]string{}}
	list, err := p.app.Channels.List(v.R.Context(), v.Actor, merchants.ChannelFilter{}, store.Page{Number: 1, Size: offered, Offset: -1, OrderBy: "name"})
	if err != nil {
		return nil, err
	}
	n.channels, n.more = list.Items, list.More
	policy, err := p.app.Policies.On(v.R.Context(), v.Actor, nil)
	if err != nil {
		return nil, err
	}
	n.policy = policy.Currency
	return n, p.learn(v, n, s.Suppliers)
}

// learn reads the names of some suppliers.
func (p *pages) learn(v *kit.Visit, n *naming, ids []int64) error {
	slices.Sort(ids)
	ids = slices.DeleteFunc(slices.Compact(ids), func(id int64) bool { return n.suppliers[id] != "" })
	for part := range slices.Chunk(ids, offered) {
		list, err := p.app.Suppliers.List(v.R.Context(), v.Actor, merchants.SupplierFilter{}, store.Of(part))
		if err != nil {
			return err
		}
		for _, s := range list.Items {
			n.suppliers[s.ID] = s.Name
		}
	}
	return nil
}

func (n *naming) supplier(id int64) string {
	if name := n.suppliers[id]; name != "" {
		return name
	}
	return "Supplier " + strconv.FormatInt(id, 10)
}

// set names a set of suppliers.
func (n *naming) set(key string) string {
	ids := protection.SupplierIDs(key)
	if len(ids) == 0 {
		return "No supplier"
	}
	return strings.Join(each(ids, n.supplier), " + ")
}

func (n *naming) channelOptions(chosen string, ids []int64) any {
	pairs := []string{"", "All merchants"}
	found := chosen == ""
	for _, c := range n.channels {
		id := strconv.FormatInt(c.ID, 10)
		pairs = append(pairs, id, c.Name)
		found = found || id == chosen
	}
	switch {
	case found:
	case len(ids) > 1:
		pairs = append(pairs, chosen, kit.Count(int64(len(ids)))+" merchants")
	default:
		pairs = append(pairs, chosen, "Merchant "+chosen)
	}
	return kit.Options(pairs...)
}

// choice is a check box of a list.
type choice struct {
	Value, Text string
	Chosen      bool
}

// choices returns check boxes for all merchants.
func (n *naming) choices(chosen []int64) (list []choice) {
	for _, c := range n.channels {
		list = append(list, choice{strconv.FormatInt(c.ID, 10), c.Name, slices.Contains(chosen, c.ID)})
	}
	return list
}

// currencyOptions are the currencies of the site's merchants and the common ones.
func (n *naming) currencyOptions(chosen money.Currency) any {
	list := []money.Currency{"EUR", "GBP", "USD", "CHF"}
	for _, c := range n.channels {
		list = append(list, c.Currency)
	}
	if chosen != "" {
		list = append(list, chosen)
	}
	slices.Sort(list)
	pairs := []string{"", string(n.policy) + ", policy currency"}
	for _, c := range slices.Compact(list) {
		if c != n.policy || c == chosen {
			pairs = append(pairs, string(c), string(c))
		}
	}
	return kit.Options(pairs...)
}

func country(code string) string {
	if code == "" {
		return "No country"
	}
	return i18n.Of("enGB").Country(code)
}

// month formats 2026-09 as "Sep 2026".
func month(text string) string {
	day, err := civil.ParseDay(text + "-01")
	if err != nil {
		return text
	}
	return day.Start().Format("Jan 2006")
}

// shortMonth is month for an axis: only the first one and each January show the year.
func shortMonth(text string, first bool) string {
	day, err := civil.ParseDay(text + "-01")
	if err != nil {
		return text
	}
	if first || day.Start().Month() == 1 {
		return day.Start().Format("Jan 2006")
	}
	return day.Start().Format("Jan")
}

// scheme is the display name of a card scheme.
func scheme(s card.Scheme) string {
	if s == "" || s == card.Unknown {
		return "Unknown card"
	}
	return s.Label()
}
