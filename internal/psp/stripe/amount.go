package stripe

import (
	"fmt"
	"math"
	"strings"

	"holdfast/internal/domain/money"
	"holdfast/internal/psp"
)

// twoDecimals, wholeUnits and threeDecimals are the currencies of the processor, by how many decimals it counts with.
// UGX is in none of them: the list of the processor says whole units, and its notes say two decimals. A currency that
// is not here is refused, because an amount must never be wrong by a factor of a hundred.
var (
	twoDecimals = set(`AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CNY
		COP CRC CVE CZK DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR ISK JMD KES
		KGS KHR KYD KZT LAK LBP LKR LRD LSL MAD MDL MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB
		PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SEK SGD SHP SLE SOS SRD SZL THB TJS TOP TRY TTD TWD TZS UAH USD
		UYU UZS WST XCD XCG YER ZAR ZMW`)
	wholeUnits    = set(`BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF`)
	threeDecimals = set(`BHD JOD KWD OMR TND`)
)

func set(codes string) map[money.Currency]bool {
	known := map[money.Currency]bool{}
	for _, code := range strings.Fields(codes) {
		known[money.Currency(code)] = true
	}
	return known
}

// decimals is the number of decimals with which the processor counts a currency.
func decimals(c money.Currency) (int, bool) {
	switch {
	case twoDecimals[c]:
		return 2, true
	case wholeUnits[c]:
		return 0, true
	case threeDecimals[c]:
		return 3, true
	default:
		return 0, false
	}
}

// toProcessor converts minor units of ISO 4217 to those of the processor. They differ for ISK, which the processor
// counts with two decimals, and for MGA, which it counts without.
func toProcessor(amount int64, c money.Currency) (int64, error) {
	places, ok := decimals(c)
	switch {
	case !ok:
		return 0, invalid("currencies", "stripe does not accept "+string(c))
	case amount <= 0:
		return 0, invalid("total", "the amount must be greater than zero")
	}
	for range places - c.Exponent() {
		if amount > math.MaxInt64/10 {
			return 0, invalid("total", "the amount is too large")
		}
		amount *= 10
	}
	for range c.Exponent() - places {
		if amount%10 != 0 {
			return 0, invalid("total", "stripe accepts only whole units of "+string(c))
		}
		amount /= 10
	}
	if threeDecimals[c] && amount%10 != 0 {
		return 0, invalid("total", "stripe accepts "+string(c)+" with two decimals only: the last of the three must be 0")
	}
	return amount, nil
}

// fromProcessor converts an amount of the processor to minor units of ISO 4217.
func fromProcessor(amount int64, code string) (int64, money.Currency, error) {
	c, err := money.ParseCurrency(strings.ToUpper(code))
	if err != nil {
		return 0, "", err
	}
	places, ok := decimals(c)
	if !ok {
		return 0, "", fmt.Errorf("the number of decimals that stripe uses for %s is unknown", c)
	}
	for range c.Exponent() - places {
		if amount > math.MaxInt64/10 {
			return 0, "", money.ErrRange
		}
		amount *= 10
	}
	for range places - c.Exponent() {
		if amount%10 != 0 {
			return 0, "", fmt.Errorf("the amount has a fraction of %s, which has none", c)
		}
		amount /= 10
	}
	return amount, c, nil
}

func invalid(field, message string) *psp.Error {
	return &psp.Error{Source: psp.AtProcessor, Kind: psp.Invalid, Field: field, Message: message}
}
