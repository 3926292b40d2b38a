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

// filter reads what the address of a list asks for, and collects what is wrong with it.
type filter struct {
	form     *kit.Form
	problems errs.Problems
}

func filterOf(v *kit.Visit) *filter {
	return &filter{form: &kit.Form{Values: v.R.URL.Query()}}
}

// list are the values of a field: it may be sent more than once, and hold several with commas.
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

// ids are the numbers of objects.
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

// codes are codes of countries or currencies, in capital letters.
func (f *filter) codes(name string) (codes []string) {
	for _, text := range f.list(name) {
		codes = append(codes, strings.ToUpper(text))
	}
	return codes
}

// words are some of the known ones.
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

// day is a day, or NoDay where none is given.
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

// span is from the beginning of one day to the end of another.
func (f *filter) span(prefix string) (s civil.Span) {
	if from := f.day(prefix + "_from"); from != civil.NoDay {
		s.After = from.Start().Add(-time.Second) // the rooms leave out the second that they are given
	}
	if to := f.day(prefix + "_to"); to != civil.NoDay {
		s.Before = (to + 1).Start()
	}
	return s
}

// more says whether one of the fields has a value, so that the part of the form with them is open.
func (f *filter) more(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return f.form.Get(name) != "" })
}

// kept are the values of the address that the form of a list sends again, although it has no fields for them.
func kept(values url.Values) (list []kit.Link) {
	for _, name := range []string{"sort", "down", "col"} {
		for _, value := range values[name] {
			list = append(list, kit.Link{Text: name, Href: value})
		}
	}
	return list
}

// wordChoices are the options of a field of a filter: all of them, and then the known values.
func wordChoices[T ~string](first string, known []T) []string {
	pairs := []string{"", first}
	for _, one := range known {
		pairs = append(pairs, string(one), kit.Say(string(one)))
	}
	return pairs
}

// took is Visit.Took for a form with these fields. What is wrong with none of them stands above the form.
func took(v *kit.Visit, form *kit.Form, err error, fields ...string) (ok bool, rest error) {
	if ok, rest = v.Took(form, err); !ok && rest == nil {
		unseen(form, fields)
	}
	return ok, rest
}

// unseen says what is wrong with fields that the page does not show.
func unseen(form *kit.Form, fields []string) {
	for _, name := range slices.Sorted(maps.Keys(form.Problems)) {
		if !slices.Contains(fields, name) {
			form.Message += " " + kit.Say(name) + ": " + form.Problems[name]
		}
	}
}

// list fills a table with the rows that a filter finds, or sends it as a file, if one is asked for. A filter that is wrong finds
// nothing: its form says why.
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
