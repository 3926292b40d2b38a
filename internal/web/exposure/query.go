package exposure

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/report"
	"holdfast/internal/web/kit"
)

// settings are the parameters of a report. They are in the URL, so that a page can be shared.
type settings struct {
	report.ExposureQuery // without invalid values: see query
	in                   *kit.Reading
	names                *naming
	fixed                []string // settings to add to all links, on a page whose own URL does not have them
	v                    *kit.Visit
}

// query is the query for the use case. It reports all errors together.
func (s *settings) query() report.ExposureQuery {
	q := s.ExposureQuery
	q.Problems = s.in.Problems
	return q
}

// pinned formats an instant for a URL and for a datetime field.
const pinned = "2006-01-02T15:04:05.000"

// maxNamed is the maximum number of values of one setting.
const maxNamed = 1000

// prefilled is the prefix of hidden fields with the days that a form was filled with. A day that the user leaves unchanged is not kept in
// the URL, so that the page follows the calendar.
const prefilled = "default_"

// tidy redirects to the same page without empty values and unchanged days, because a form sends all its fields. It reports whether it did.
func tidy(v *kit.Visit) (bool, error) {
	q := v.R.URL.Query()
	before := len(q)
	for _, name := range []string{"as_of", "from"} {
		if day := q.Get(prefilled + name); day != "" && day == q.Get(name) {
			q.Del(name)
		}
		q.Del(prefilled + name)
	}
	maps.DeleteFunc(q, func(_ string, values []string) bool { return len(values) == 1 && values[0] == "" })
	if len(q) == before {
		return false, nil
	}
	address := v.R.URL.Path
	if len(q) > 0 {
		address += "?" + q.Encode()
	}
	return true, v.Go(address)
}

// read parses the settings of a page. The report shows the errors.
func (p *pages) read(v *kit.Visit) (*settings, error) {
	form := &kit.Form{Values: url.Values{}}
	for name, values := range v.R.URL.Query() {
		form.Values.Set(name, strings.Join(values, ","))
	}
	s := &settings{in: form.Reading(), v: v}
	s.AsOf = s.in.Day("as_of")
	s.KnownAt = s.instant("known_at")
	if c := s.in.Currency("currency"); c != nil {
		s.Currency = *c
	}
	s.Valuation = exposure.Valuation(s.in.Get("valuation"))
	s.By, s.Across = exposure.Dimension(s.in.Get("by")), exposure.Dimension(s.in.Get("across"))
	s.Channels, s.Suppliers = s.ids("channels"), s.ids("suppliers")
	for _, code := range s.list("countries") {
		s.Countries = append(s.Countries, strings.ToUpper(code))
	}
	for _, code := range s.list("currencies") {
		s.Currencies = append(s.Currencies, money.Currency(strings.ToUpper(code)))
	}
	for _, name := range s.list("schemes") {
		s.Schemes = append(s.Schemes, card.Scheme(strings.ToLower(name)))
	}
	s.Months = s.list("months")
	var err error
	s.names, err = p.naming(v, s)
	return s, err
}

// list parses comma-separated values.
func (s *settings) list(name string) (items []string) {
	for item := range strings.SplitSeq(s.in.Get(name), ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	if len(items) > maxNamed {
		s.in.Problems.Wrong(name, "Enter at most %d values.", maxNamed)
		return nil
	}
	return items
}

func (s *settings) ids(name string) (ids []int64) {
	for _, item := range s.list(name) {
		id, err := strconv.ParseInt(item, 10, 64)
		if err != nil || id <= 0 {
			s.in.Problems.Wrong(name, "Enter numbers separated by commas.")
			return nil
		}
		ids = append(ids, id)
	}
	return ids
}

// instant parses a time in GMT, as sent by a browser's datetime field.
func (s *settings) instant(name string) time.Time {
	text := strings.TrimSuffix(s.in.Get(name), "Z")
	if text == "" {
		return time.Time{}
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05"} {
		t, err := time.ParseInLocation(layout, text, time.UTC) // optionally with fractional seconds
		if day := civil.DayOf(t); err == nil && day >= civil.FirstDay && day <= civil.LastDay {
			return t
		}
	}
	s.in.Problems.Wrong(name, "Enter a time in GMT, such as 2026-09-14T12:30.")
	return time.Time{}
}

// field is one field of the settings form.
type field struct {
	Name, Label, Kind string
	Options           any
}

// setting is the settings form of a report.
type setting struct {
	Form   *kit.Form
	Action string
	Fields []field
	More   []field // advanced fields, collapsed
	Open   bool    // one of them has a value
	Hidden []kit.Link
	Chips  []kit.Link // active filters; each link removes one
	Wrong  []string   // errors in settings without a field
}

// The fields of forms.
const (
	withDays   = 1 << iota // the moment alone
	withMoment             // and all that reports of exposure have
	withValuation
	withGrouping
	withFrom
	withFigure
	withBands
	withChoice
)

// fields builds the settings form of a report.
func (s *settings) fields(which int) *setting {
	out := &setting{Form: s.in.Form, Action: s.v.R.URL.Path}
	add := func(name, label, kind string, options any) {
		out.Fields = append(out.Fields, field{name, label, kind, options})
	}
	rarely := func(name, label, kind string, options any) {
		out.More = append(out.More, field{name, label, kind, options})
		out.Open = out.Open || s.in.Values.Get(name) != ""
	}
	if which&withChoice != 0 { // it takes a full row
		s.addChoice(add)
	}
	if which&withFrom != 0 {
		add("from", "From the end of", "date", nil)
	}
	add("as_of", "At the end of", "date", nil)
	if which&withDays == 0 {
		s.moreFields(which, add, rarely)
	}
	rarely("known_at", "As known at (GMT)", "datetime-local", nil)
	own := map[string]bool{"format": true, "col": true, "sort": true, "down": true}
	for _, f := range out.all() {
		own[f.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(s.in.Values)) {
		if !own[name] && !strings.HasPrefix(name, "page") {
			out.Hidden = append(out.Hidden, kit.Link{Text: name, Href: s.in.Values.Get(name)})
		}
	}
	out.Chips = s.chips()
	s.prefill(out, "as_of", s.lastDay())
	if which&withFrom != 0 {
		s.prefill(out, "from", s.lastDay()-week)
	}
	return out
}

// lastDay is the day of the report: today, unless the user has chosen another.
func (s *settings) lastDay() civil.Day {
	if s.AsOf != nil {
		return *s.AsOf
	}
	return today(s.v)
}

// prefill fills an empty field with its default.
func (s *settings) prefill(out *setting, name string, day civil.Day) {
	if s.in.Get(name) == "" {
		s.in.Values.Set(name, day.String())
		out.Hidden = append(out.Hidden, kit.Link{Text: prefilled + name, Href: day.String()})
	}
}

// all returns all fields of the form.
func (f *setting) all() []field { return slices.Concat(f.Fields, f.More) }

// moreFields adds the fields of reports of exposure.
func (s *settings) moreFields(which int, add, rarely func(name, label, kind string, options any)) {
	rarely("currency", "Currency", "select", s.names.currencyOptions(s.Currency))
	if which&withValuation != 0 {
		rarely("valuation", "Rates", "select", kit.Options("", "Spot", "locked", "Locked"))
	}
	if which&withChoice == 0 {
		add("channels", "Merchant", "select", s.names.channelOptions(s.in.Get("channels"), s.Channels))
	}
	if which&withBands != 0 {
		rarely("bands", "Bands, such as 30:400000", "text", nil)
	}
	if which&withGrouping != 0 {
		add("by", "Rows by", "select", kit.Options(groupings(false)...))
		add("across", "Split by", "select", kit.Options(groupings(true)...))
		if s.Across != "" {
			add("cells", "Values", "select", kit.Options(cellFigures...))
		}
	}
	if which&withFigure != 0 {
		add("by", "Rows by", "select", kit.Options("", "Currency", "channel", "Merchant"))
		add("figure", "Figure", "select", kit.Options("", "Undelivered (E1)", "e2", "Tail (E2)"))
	}
}

// addChoice adds the field that takes several merchants.
func (s *settings) addChoice(add func(name, label, kind string, options any)) {
	label, none := "Failing merchants", ""
	if len(s.Channels) == 0 {
		none = " (none selected: all fail)"
	}
	if s.names.more { // too many for check boxes
		add("channels", label+", IDs"+none, "text", nil)
		return
	}
	add("channels", label+none, "choice", s.names.choices(s.Channels))
}

func groupings(across bool) []string {
	pairs := []string{"", "None"}
	if !across {
		pairs = nil
	}
	for _, d := range exposure.Dimensions {
		pairs = append(pairs, string(d), titleOf(d))
	}
	return pairs
}

// titleOf is the title of a dimension.
func titleOf(d exposure.Dimension) string {
	switch d {
	case exposure.ByChannel:
		return "Merchant"
	case exposure.ByMonth:
		return "Travel month"
	case exposure.ByScheme:
		return "Card scheme"
	}
	return kit.Say(string(d))
}

// filterOf is the setting that filters a report by a dimension.
func filterOf(d exposure.Dimension) string {
	switch d {
	case exposure.ByCountry:
		return "countries"
	case exposure.ByCurrency:
		return "currencies"
	}
	return string(d) + "s"
}

// chips are the active filters that have no field.
func (s *settings) chips() (list []kit.Link) {
	add := func(d exposure.Dimension, texts []string) {
		if len(texts) > 0 {
			text := fmt.Sprintf("%s: %s", titleOf(d), strings.Join(texts, ", "))
			list = append(list, kit.Link{Text: text, Href: s.v.With(filterOf(d), "", "page", "")})
		}
	}
	var names []string
	for _, id := range s.Suppliers {
		names = append(names, s.names.supplier(id))
	}
	add(exposure.BySupplier, names)
	add(exposure.ByCountry, each(s.Countries, country))
	add(exposure.ByMonth, each(s.Months, month))
	add(exposure.ByScheme, each(s.Schemes, scheme))
	add(exposure.ByCurrency, each(s.Currencies, func(c money.Currency) string { return string(c) }))
	return list
}

func each[T any](list []T, say func(T) string) (texts []string) {
	for _, item := range list {
		texts = append(texts, say(item))
	}
	return texts
}

// refused shows the form again if the report rejected its settings. Any other error is returned.
func (s *settings) refused(form *setting, err error) error {
	if _, rest := s.v.Took(s.in.Form, err); rest != nil {
		return rest
	}
	own := map[string]bool{}
	for _, f := range form.all() {
		own[f.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(s.in.Form.Problems)) {
		if !own[name] {
			form.Wrong = append(form.Wrong, fmt.Sprintf("%s: %s", kit.Say(name), s.in.Form.Problems[name]))
		}
	}
	return nil
}
