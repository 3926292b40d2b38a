package psp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"
)

// fieldsScheme is the kind of token that hosted fields make. A token is as long as the card number and has its first
// six and its last four digits.
const fieldsScheme = "PCI"

// HostedFields is the data that a page needs to show the tokenizer's fields for card number and security code. It holds no
// secret, and the tokenizer accepts it for twenty minutes.
type HostedFields struct {
	ID        string
	Origin    string // the origins of the pages around the fields, the innermost first, with commas between
	Timestamp string // YYYYMMDDHHMMSS in GMT
	Scheme    string
	Key       string // signs the four fields above
}

// Fields signs for hosted fields inside pages of the given origins. now is the real time.
func (t Tokenizer) Fields(origins []string, now time.Time) HostedFields {
	f := HostedFields{
		ID: t.ID, Origin: strings.Join(origins, ","), Timestamp: now.UTC().Format("20060102150405"), Scheme: fieldsScheme,
	}
	sum := hmac.New(sha256.New, []byte(t.FieldsSecret))
	sum.Write([]byte(strings.Join([]string{f.ID, f.Origin, f.Timestamp, f.Scheme}, "|")))
	f.Key = base64.StdEncoding.EncodeToString(sum.Sum(nil))
	return f
}
