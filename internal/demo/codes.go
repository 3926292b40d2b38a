package demo

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"math/rand/v2"
	"strconv"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
)

// otherProtection is set on a few bookings that override their merchant's other protection. It is nil for the others.
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

// authCode draws an issuer's approval code: six digits and capital letters.
func authCode(codes *rand.Rand) string {
	const letters = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ"
	code := make([]byte, 6)
	for i := range code {
		code[i] = letters[codes.IntN(len(letters))]
	}
	return string(code)
}

// acquirers are made-up acquirer numbers by currency, as used in acquirer references.
var acquirers = map[string]string{"EUR": "453760", "GBP": "498750"}

// acquirerReference generates the reference of a payment cleared by its acquirer on the next day: the digit 7, the acquirer's
// number, the day as the last digit of the year and the day of the year, eleven digits of the acquirer, and a check digit.
func (p *payer) acquirerReference(paid civil.Day) string {
	cleared := (paid + 1).Start()
	text := fmt.Sprintf("7%s%d%03d%011d", acquirers[string(*p.row.Booking.Currency)], cleared.Year()%10, cleared.YearDay(),
		p.codes.Int64N(100_000_000_000))
	return text + checkDigit(text)
}

// processorReference generates the processor's id of a payment or refund from its key.
func processorReference(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "dp_" + base32.StdEncoding.EncodeToString(sum[:10])
}

// checkDigit returns the Luhn check digit of a number.
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
