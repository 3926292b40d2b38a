// Package choices has the options that several dashboard pages share: merchants by name, languages, countries. It owns
// no data. Start reading at Channels.
package choices

import (
	"slices"
	"strconv"
	"sync"

	"holdfast/internal/app"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/check"
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
