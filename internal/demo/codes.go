package demo

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
)

// otherProtection is what a few bookings say themselves about what else protects the traveller. It is nil for the others,
// which follow their channel.
func (b *book) otherProtection() *merchant.OtherProtection {
	own := merchant.OtherProtection("insurance")
	switch b.codes.IntN(25) {
	case 0:
	case 1:
		own = "scheme"
	default:
		return nil
	}
	return &own
}

// authCode draws the code by which an issuer approves a payment: six digits and capital letters.
func authCode(codes *rand.Rand) string {
	const letters = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ"
	code := make([]byte, 6)
	for i := range code {
		code[i] = letters[codes.IntN(len(letters))]
	}
	return string(code)
}

// acquirers are the made-up numbers of the acquirers of the merchants' currencies, as they stand in their references.
var acquirers = map[string]string{"EUR": "453760", "GBP": "498750"}

// acquirerReference makes the reference of a payment that its acquirer has cleared on the next day: the digit 7, the
// acquirer's number, the day as the last digit of its year and its number in the year, eleven digits of the acquirer, and a
// check digit.
func (p *payer) acquirerReference(paid civil.Day) string {
	cleared := (paid + 1).Start()
	text := fmt.Sprintf("7%s%d%03d%011d", acquirers[string(*p.row.Booking.Currency)], cleared.Year()%10, cleared.YearDay(),
		p.codes.Int64N(100_000_000_000))
	return text + checkDigit(text)
}

// checkDigit is the digit that makes a number right by Luhn's formula.
func checkDigit(number string) string {
	sum := 0
	for i := range number {
		digit := int(number[len(number)-1-i] - '0')
		if i%2 == 0 {
			digit = digit*2 - digit*2/10*9
		}
		sum += digit
	}
	return strconv.Itoa((10 - sum%10) % 10)
}
