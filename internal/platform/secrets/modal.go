package secrets

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"holdfast/internal/errs"
)

const (
	modalStamp    = "20060102150405" // YYYYMMDDHHMMSS in GMT
	modalLifetime = 15 * time.Minute
	modalAhead    = time.Minute // how far an integrator's clock may be ahead of ours
)

// NewChannelSecret makes the random secret with which an integrator signs requests of the payment modal: 40
// characters.
func NewChannelSecret(random io.Reader) (string, error) { return RandomText(random, SecretBytes) }

// ModalString creates the auth string with which an integrator's server signs the fields of one payment, signed at
// stamp (section 5, docs/modal.md). It contains the values in the order of the names, but without the names. So both
// sides must agree on the fields that are verified.
func ModalString(secret string, fields map[string]string, stamp time.Time) string {
	var values []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		values = append(values, fields[name])
	}
	at := stamp.UTC().Format(modalStamp)
	return salted(strings.Join(append(values, at), "&"), secret) + at
}

// The reasons of a ModalAuth error when only the time of the auth string is wrong.
const (
	ModalExpired = "expired"
	ModalFuture  = "future"
)

// CheckModalString returns nil when got vouches for exactly these fields and is at most 15 minutes old. Otherwise it
// returns a ModalAuth error. Only a string that is right in all else gets the reason ModalExpired or ModalFuture. A JSON
// list may be signed in another form than it is given, such as with "\/" for "/".
func CheckModalString(secret string, fields map[string]string, got string, now time.Time) error {
	wrong := ErrModalString()
	// With an empty secret anyone could sign.
	if secret == "" || len(got) < len(modalStamp) {
		return wrong
	}
	stamp, err := time.Parse(modalStamp, got[len(got)-len(modalStamp):])
	if err != nil || !slices.ContainsFunc(signedAs(fields), func(form map[string]string) bool {
		return SameText(got, ModalString(secret, form, stamp))
	}) {
		return wrong
	}
	switch age := now.Sub(stamp); {
	case age > modalLifetime:
		return modalFault(ModalExpired, "The auth string has expired.")
	case age < -modalAhead:
		return modalFault(ModalFuture, "The auth string is from the future. Check your clock and time zone.")
	}
	return nil
}

// ErrModalString is the one error for every wrong auth string, also when its channel or its site is unknown.
func ErrModalString() error { return modalFault("", "The auth string is invalid.") }

func modalFault(reason, message string) error {
	return &errs.Error{Kind: errs.ModalAuth, Reason: reason, Message: message}
}

// TransactionHash makes the `hash` of a transaction (section 2.6). With it an integrator checks that a result in the
// browser comes from us. It changes with the status.
func TransactionHash(id int64, status string, total int64, secret string) string {
	return salted(fmt.Sprintf("%d&%s&%d", id, status, total), secret)
}

// salted is the construction of docs/modal.md, which clients have built in. For anything new an HMAC is better.
func salted(text, secret string) string { return HexSHA256(HexSHA256(text) + secret) }
