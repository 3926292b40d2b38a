package psp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"
)

// fieldsScheme is the kind of token that hosted fields make: of the number's length, with its first six and last four
// digits.
const fieldsScheme = "PCI"

// HostedFields is what a page needs to show the tokenizer's own fields for number and security code. None of it is
// secret, and it is good for twenty minutes.
type HostedFields struct {
	ID        string
	Origin    string // of the pages around the fields, from the inside, with commas between
	Timestamp string // YmdHis in GMT
	Scheme    string
	Key       string // that signs the four above
}

// Fields signs for hosted fields inside pages of the origins; now is the real time.
func (t Tokenizer) Fields(origins []string, now time.Time) HostedFields {
	f := HostedFields{
		ID: t.ID, Origin: strings.Join(origins, ","), Timestamp: now.UTC().Format("20060102150405"), Scheme: fieldsScheme,
	}
	sum := hmac.New(sha256.New, []byte(t.FieldsSecret))
	sum.Write([]byte(strings.Join([]string{f.ID, f.Origin, f.Timestamp, f.Scheme}, "|")))
	f.Key = base64.StdEncoding.EncodeToString(sum.Sum(nil))
	return f
}
