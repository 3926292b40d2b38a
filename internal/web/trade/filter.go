package trade

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/web/kit"
)

// filter parses a list's filter from the URL and collects errors.
type filter struct {
	form     *kit.Form
	problems errs.Problems
}

func filterOf(v *kit.Visit) *filter {
	return &filter{form: &kit.Form{Values: v.R.URL.Query()}}
}

// list returns the values of a field, which may be repeated and comma-separated.
func (f *filter) list(name string) (list []string) {
	for _, text := range f.form.All(name) {
		list = append(list, strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })...)
	}
	if len(list) > check.MaxList {
		f.problems.Wrong(name, "Enter at most %d values.", check.MaxList)
		return nil
	}
	return list
}

// ids returns object IDs.
func (f *filter) ids(name string) (ids []int64) {
	for _, text := range f.list(name) {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id < 1 {
			f.problems.Wrong(name, "Enter IDs separated by commas, such as 17, 18.")
			return nil
		}
		ids = append(ids, id)
	}
	return ids
}

// codes returns country or currency codes, in upper case.
func (f *filter) codes(name string) (codes []string) {
	for _, text := range f.list(name) {
		codes = append(codes, strings.ToUpper(text))
	}
	return codes
}

// words returns values from a known set.
func words[T ~string](f *filter, name string, known []T) (list []T) {
	for _, text := range f.list(name) {
		if !slices.Contains(known, T(text)) {
			f.problems.Wrong(name, "%q is not a valid value.", text)
			return nil
		}
		list = append(list, T(text))
	}
	return list
}

// day returns a day, or NoDay.
func (f *filter) day(name string) civil.Day {
	text := f.form.Get(name)
	if text == "" {
		return civil.NoDay
	}
	day, err := civil.ParseDay(text)
	if err != nil {
		f.problems.Wrong(name, "Enter a date, such as 2030-05-31.")
		return civil.NoDay
	}
	return day
}

// span returns the time from the start of one day to the end of another.
func (f *filter) span(prefix string) (s civil.Span) {
	if from := f.day(prefix + "_from"); from != civil.NoDay {
		s.After = from.Start().Add(-time.Second) // the use cases exclude the given second
	}
	if to := f.day(prefix + "_to"); to != civil.NoDay {
		s.Before = (to + 1).Start()
	}
	return s
}

// narrow reads what every list can be narrowed by.
func (f *filter) narrow(page *store.Page) {
	page.Include, page.Exclude, page.Modified = f.ids("include"), f.ids("exclude"), f.span("modified")
}

// more reports whether one of the fields has a value, so that their section is expanded.
func (f *filter) more(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return f.form.Get(name) != "" })
}

// kept returns query values that the list's form preserves without having fields for them.
func kept(values url.Values) (list []kit.Link) {
	for _, name := range []string{"sort", "down", "col"} {
		for _, value := range values[name] {
			list = append(list, kit.Link{Text: name, Href: value})
		}
	}
	return list
}

// wordChoices builds a filter field's options: "All", then the known values.
func wordChoices[T ~string](first string, known []T) []string {
	pairs := []string{"", first}
	for _, one := range known {
		pairs = append(pairs, string(one), kit.Say(string(one)))
	}
	return pairs
}

// took is Visit.Took for a form with these fields. Errors in other fields are shown above the form.
func took(v *kit.Visit, form *kit.Form, err error, fields ...string) (ok bool, rest error) {
	if ok, rest = v.Took(form, err); !ok && rest == nil {
		unseen(form, fields)
	}
	return ok, rest
}

// unseen returns the errors of fields not on the page.
func unseen(form *kit.Form, fields []string) {
	for _, name := range slices.Sorted(maps.Keys(form.Problems)) {
		if !slices.Contains(fields, name) {
			form.Message += " " + kit.Say(name) + ": " + form.Problems[name]
		}
	}
}

// list fills a table with the filtered rows, or sends it as a file if requested. An invalid filter finds nothing; the form
// shows why.
func list(
	v *kit.Visit, f *filter, page store.Page, t kit.Table, read func(page store.Page) (rows []kit.Row, more bool, err error),
) (made *kit.Table, sent bool, err error) {
	err = f.problems.Err()
	if err == nil {
		err = v.Each(page, func(page store.Page) (bool, error) {
			rows, more, err := read(page)
			t.Rows, t.More = append(t.Rows, rows...), more
			return more, err
		})
	}
	ok, err := v.Took(f.form, err)
	if err != nil {
		return nil, false, err
	}
	if !ok {
		t.Rows = nil
		return v.Table(t), false, nil
	}
	made = v.Table(t)
	sent, err = v.File(made)
	return made, sent, err
}
