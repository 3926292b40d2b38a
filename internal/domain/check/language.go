package check

// Languages of mail receipts (section 2.3), the default first.
var Languages = []string{
	"enGB", "deDE", "esES", "frFR", "itIT", "jaJA", "kkKK", "koKO", "lvLV", "ptBR", "roRO", "ruRU", "ukUK", "uzUZ", "zhZH",
}

// DefaultLanguage is the language of mail receipts when none is given.
const DefaultLanguage = "enGB"
