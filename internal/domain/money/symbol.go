package money

// Symbol says how amounts of a currency are written: the sign and its position (section 2.3, forex_feed).
type Symbol struct {
	Grapheme string
	Template string // "$" is the place of the symbol, "1" that of the amount
	RTL      bool   // whether the grapheme is written from right to left
}

// Templates: the sign is before or after the amount.
const (
	symbolBefore = "$1"
	symbolAfter  = "1 $"
)

// before, after and rightToLeft hold the signs of the currencies that have one. The other currencies are written with
// their code.
var (
	before = map[Currency]string{
		"ARS": "$", "AUD": "$", "BBD": "$", "BDT": "৳", "BMD": "$", "BND": "$", "BRL": "R$", "BSD": "$", "BZD": "$",
		"CAD": "$", "CLP": "$", "CNY": "¥", "COP": "$", "CRC": "₡", "CUP": "$", "DOP": "$", "EGP": "£", "EUR": "€",
		"FJD": "$", "FKP": "£", "GBP": "£", "GHS": "₵", "GIP": "£", "GTQ": "Q", "GYD": "$", "HKD": "$", "HNL": "L",
		"IDR": "Rp", "ILS": "₪", "INR": "₹", "JMD": "$", "JPY": "¥", "KHR": "៛", "KRW": "₩", "KYD": "$", "LAK": "₭",
		"LKR": "₨", "LRD": "$", "MNT": "₮", "MUR": "₨", "MXN": "$", "MYR": "RM", "NAD": "$", "NGN": "₦", "NIO": "C$",
		"NPR": "₨", "NZD": "$", "PEN": "S/", "PHP": "₱", "PKR": "₨", "PYG": "₲", "SBD": "$", "SCR": "₨", "SGD": "$",
		"SHP": "£", "SRD": "$", "THB": "฿", "TRY": "₺", "TTD": "$", "TWD": "$", "USD": "$", "UYU": "$", "XCD": "$",
		"ZAR": "R",
	}
	after = map[Currency]string{
		"AMD": "֏", "AZN": "₼", "BAM": "KM", "BYN": "Br", "CZK": "Kč", "DKK": "kr", "GEL": "₾", "HUF": "Ft", "ISK": "kr",
		"KZT": "₸", "MDL": "L", "MKD": "ден", "NOK": "kr", "PLN": "zł", "RON": "lei", "RSD": "дин", "RUB": "₽", "SEK": "kr",
		"UAH": "₴", "VND": "₫",
	}
	rightToLeft = map[Currency]string{
		"AED": "د.إ", "AFN": "؋", "BHD": "د.ب", "DZD": "د.ج", "IQD": "ع.د", "IRR": "﷼", "JOD": "د.ا", "KWD": "د.ك",
		"LBP": "ل.ل", "LYD": "ل.د", "MAD": "د.م.", "OMR": "ر.ع.", "QAR": "ر.ق", "SAR": "ر.س", "SYP": "ل.س", "TND": "د.ت",
		"YER": "﷼",
	}
)

// Symbol returns how amounts of the currency are written.
func (c Currency) Symbol() Symbol {
	if grapheme, ok := before[c]; ok {
		return Symbol{Grapheme: grapheme, Template: symbolBefore}
	}
	if grapheme, ok := after[c]; ok {
		return Symbol{Grapheme: grapheme, Template: symbolAfter}
	}
	if grapheme, ok := rightToLeft[c]; ok {
		return Symbol{Grapheme: grapheme, Template: symbolAfter, RTL: true}
	}
	return Symbol{Grapheme: string(c), Template: symbolAfter}
}
