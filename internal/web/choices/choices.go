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

// MostChannels is how many channels a choice has. A site with more has a field for the number of one.
const MostChannels = 100

// Channels are the channels of the site to choose from, by name, for a field of a form; nil where there are too many. first is the text
// of the empty choice; "" for a choice without one. Errors are those of Channels.List.
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

// languages are the codes of the wire and their names. A test holds them against check.Languages.
var languages = []string{
	"enGB", "English", "deDE", "German", "esES", "Spanish", "frFR", "French", "itIT", "Italian", "jaJA", "Japanese", "kkKK", "Kazakh",
	"koKO", "Korean", "lvLV", "Latvian", "ptBR", "Portuguese", "roRO", "Romanian", "ruRU", "Russian", "ukUK", "Ukrainian",
	"uzUZ", "Uzbek", "zhZH", "Chinese",
}

// Languages are the languages of mails and receipts.
func Languages() any { return kit.Options(languages...) }

// Language is the name of a language by its code of the wire. An unknown code stays as it is.
func Language(code string) string {
	if at := slices.Index(languages, code); at >= 0 {
		return languages[at+1]
	}
	return code
}

// countries are the codes of ISO 3166-1 and their names. The names are read once.
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

// Countries are proposals for a field that takes the code of a country.
func Countries() any { return kit.Options(countries()...) }

// Country is the name of a country by its code. An unknown code stays as it is.
func Country(code string) string { return i18n.Of(check.DefaultLanguage).Country(code) }
