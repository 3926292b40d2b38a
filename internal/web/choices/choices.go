// Package choices has the options that several dashboard pages share: merchants by name, languages, countries. It owns
// no data. Start reading at Channels.
package choices

import (
	"slices"
	"strconv"
	"sync"

	"holdfast/internal/app"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/lib/i18n"
	"holdfast/internal/store"
	"holdfast/internal/web/kit"
)

// MostChannels is the maximum number of merchants in a select field. Sites with more get a field for a merchant ID.
const MostChannels = 100

// Channels returns the site's merchants by name, for a select field; nil if there are too many. first is the text of the
// empty option; "" for none. Errors are those of Channels.List.
func Channels(v *kit.Visit, a *app.App, first string) (any, error) {
	found, err := a.Channels.List(v.R.Context(), v.Actor, merchants.ChannelFilter{},
		store.Page{Number: 1, Size: MostChannels, Offset: -1, OrderBy: "name"})
	if err != nil || found.More {
		return nil, err
	}
	var pairs []string
	if first != "" {
		pairs = append(pairs, "", first)
	}
	for _, c := range found.Items {
		pairs = append(pairs, strconv.FormatInt(c.ID, 10), c.Name+" ("+string(c.Currency)+")")
	}
	return kit.Options(pairs...), nil
}

// Fill adds the requested page of a list to a table, or for a file all pages. channel returns the merchant's ID of an item, and row makes its
// row; the merchant is zero for ID 0. Errors are those of read and of Channels.List.
func Fill[T any](
	v *kit.Visit, a *app.App, t *kit.Table, page store.Page, read func(page store.Page) (store.List[T], error), channel func(T) int64,
	row func(item T, c merchant.Channel) kit.Row,
) error {
	t.Number, t.Total, t.Sorted, t.Descending = page.Number, -1, page.OrderBy, page.Descending
	return v.Each(page, func(page store.Page) (bool, error) {
		list, err := read(page)
		if err != nil {
			return false, err
		}
		channels, err := ChannelsOf(v, a, list.Items, channel)
		for _, item := range list.Items {
			t.Rows = append(t.Rows, row(item, channels[channel(item)]))
		}
		t.More = list.More
		return list.More, err
	})
}

// ChannelsOf reads the merchants of items, by their IDs. Errors are those of Channels.List.
func ChannelsOf[T any](v *kit.Visit, a *app.App, items []T, channel func(T) int64) (map[int64]merchant.Channel, error) {
	var ids []int64
	for _, item := range items {
		if id := channel(item); id != 0 {
			ids = append(ids, id)
		}
	}
	return channelsByID(v, a, merchants.ChannelFilter{}, ids)
}

// Words builds the options of a select field from words of the API. first is the text of the empty option; "" for none.
func Words[T ~string](words []T, first string) any {
	var pairs []string
	if first != "" {
		pairs = append(pairs, "", first)
	}
	for _, w := range words {
		pairs = append(pairs, string(w), kit.Say(w))
	}
	return kit.Options(pairs...)
}

// OneOf reads a filter by one of the words of the API; nil without one. Another word is a problem of the field.
func OneOf[T ~string](r *kit.Reading, name string, words []T) []T {
	word := T(r.Get(name))
	switch {
	case word == "":
		return nil
	case !slices.Contains(words, word):
		r.Problems.Wrong(name, "Unknown word.")
		return nil
	}
	return []T{word}
}

// Insolvent reads those of the merchants that are insolvent. Errors are those of Channels.List.
func Insolvent(v *kit.Visit, a *app.App, ids []int64) (map[int64]merchant.Channel, error) {
	return channelsByID(v, a, merchants.ChannelFilter{Insolvent: true}, ids)
}

func channelsByID(v *kit.Visit, a *app.App, f merchants.ChannelFilter, ids []int64) (map[int64]merchant.Channel, error) {
	found := map[int64]merchant.Channel{}
	for part := range slices.Chunk(slices.Compact(slices.Sorted(slices.Values(ids))), MostChannels) {
		list, err := a.Channels.List(v.R.Context(), v.Actor, f, store.Of(part))
		if err != nil {
			return nil, err
		}
		for _, c := range list.Items {
			found[c.ID] = c
		}
	}
	return found, nil
}

// InsolventName marks the name of an insolvent merchant in a list.
func InsolventName(name string) string { return name + " (insolvent)" }

// ReportFailure is the button that reports that a merchant has failed; channel 0: one to choose.
func ReportFailure(v *kit.Visit, channel int64) kit.Link {
	href := v.At("/insolvencies/new")
	if channel != 0 {
		href += "?channels=" + strconv.FormatInt(channel, 10)
	}
	return kit.Link{Text: "Report a failure", Href: href}
}

// Rehearse is the button that rehearses the failure of a merchant, in a sandbox.
func Rehearse(v *kit.Visit, channel int64) kit.Link {
	href := v.At("/insolvencies/rehearsal?channels=" + strconv.FormatInt(channel, 10))
	return kit.Link{Text: "Rehearse a failure", Href: href, Plain: true}
}

// FailureActs are the buttons about the failure of a merchant, for people who have the permission: to report or rehearse one or, if there
// is one already, to see it. A test merchant cannot fail.
func FailureActs(v *kit.Visit, a *app.App, c merchant.Channel) ([]kit.Link, error) {
	if c.WasTest || !v.Can(access.ReadFailures) {
		return nil, nil
	}
	list, err := a.Insolvencies.List(v.R.Context(), v.Actor, insolvencies.Filter{Channels: []int64{c.ID}, States: inForce},
		store.Page{Number: 1, Size: 1, Offset: -1, OrderBy: store.OrderID, Descending: true})
	id := c.Insolvency.ID
	switch {
	case err != nil:
		return nil, err
	case len(list.Items) > 0:
		id = list.Items[0].ID
	case !c.Insolvency.InForce():
		if !v.Can(access.ReportFailures) {
			return nil, nil
		}
		link := ReportFailure(v, c.ID)
		link.Plain = true
		acts := []kit.Link{link}
		if v.Site.Sandbox && v.Can(access.MoveClock) {
			acts = append(acts, Rehearse(v, c.ID))
		}
		return acts, nil
	}
	return []kit.Link{{Text: "View insolvency", Href: v.At("/insolvencies/" + strconv.FormatInt(id, 10))}}, nil
}

// inForce are the states of an insolvency that is neither closed nor withdrawn.
var inForce = []insolvencies.State{insolvencies.Reported, insolvencies.Confirmed, insolvencies.Open, insolvencies.ClaimsClosed}

// languages are the API's language codes and their names. A test compares them with check.Languages.
var languages = []string{
	"enGB", "English", "deDE", "German", "esES", "Spanish", "frFR", "French", "itIT", "Italian", "jaJA", "Japanese", "kkKK", "Kazakh",
	"koKO", "Korean", "lvLV", "Latvian", "ptBR", "Portuguese", "roRO", "Romanian", "ruRU", "Russian", "ukUK", "Ukrainian",
	"uzUZ", "Uzbek", "zhZH", "Chinese",
}

// Languages are the languages of e-mails and receipts.
func Languages() any { return kit.Options(languages...) }

// Language returns the name of a language by its API code. An unknown code is returned as is.
func Language(code string) string {
	if at := slices.Index(languages, code); at >= 0 {
		return languages[at+1]
	}
	return code
}

// countries are the ISO 3166-1 codes and their names, read once.
var countries = sync.OnceValue(func() (pairs []string) {
	english := i18n.Of(check.DefaultLanguage)
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			if code := string([]rune{a, b}); check.KnownCountry(code) {
				pairs = append(pairs, code, english.Country(code))
			}
		}
	}
	return pairs
})

// Countries are suggestions for a country code field.
func Countries() any { return kit.Options(countries()...) }

// Country returns the name of a country by its code. An unknown code is returned as is.
func Country(code string) string { return i18n.Of(check.DefaultLanguage).Country(code) }
