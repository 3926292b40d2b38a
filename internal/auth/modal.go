package auth

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"holdfast/internal/fault"
)

const (
	modalStamp    = "20060102150405" // YmdHis
	modalLifetime = 15 * time.Minute
	modalAhead    = time.Minute // how far an integrator's clock may run ahead of ours
)

// NewChannelSecret draws the secret with which an integrator signs requests of the payment modal.
func NewChannelSecret(random io.Reader) (string, error) { return randomText(random, secretBytes) }

// ModalString is the auth string by which an integrator's server vouches for the fields of one payment, signed at the
// stamp. Values are joined without their names, as the wire has it: only the fixed order tells them apart, so both
// sides must agree on which fields are verified.
func ModalString(secret string, fields map[string]string, stamp time.Time) string {
	var values []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		values = append(values, fields[name])
	}
	at := stamp.UTC().Format(modalStamp)
	return salted(strings.Join(append(values, at), "&"), secret) + at
}

// The reasons of a ModalAuth fault about a string that is right but for its stamp.
const (
	ModalExpired = "expired"
	ModalFuture  = "future"
)

// CheckModalString returns nil when got vouches for exactly these fields and is fresh, else a ModalAuth fault. That a
// string has expired is said only of one that is otherwise right.
func CheckModalString(secret string, fields map[string]string, got string, now time.Time) error {
	wrong := ErrModalString()
	// A channel without a secret would let anybody sign.
	if secret == "" || len(got) < len(modalStamp) {
		return wrong
	}
	stamp, err := time.Parse(modalStamp, got[len(got)-len(modalStamp):])
	if err != nil || !sameText(got, ModalString(secret, fields, stamp)) {
		return wrong
	}
	switch age := now.Sub(stamp); {
	case age > modalLifetime:
		return modalFault(ModalExpired, "The auth string of the payment has expired.")
	case age < -modalAhead:
		return modalFault(ModalFuture, "The auth string of the payment is from the future: check your clock and time zone.")
	}
	return nil
}

// ErrModalString is the one answer to everything that an auth string can be wrong about, the channel and the site that it
// names included.
func ErrModalString() error { return modalFault("", "The auth string of the payment is wrong.") }

func modalFault(reason, message string) error {
	return &fault.Error{Kind: fault.ModalAuth, Reason: reason, Message: message}
}

// TransactionHash is the `hash` of a transaction, by which an integrator knows that a result in the browser is ours. It
// changes with the status.
func TransactionHash(id int64, status string, total int64, secret string) string {
	return salted(fmt.Sprintf("%d&%s&%d", id, status, total), secret)
}

// salted is the wire's own construction, kept for its clients; new uses would take an HMAC.
func salted(text, secret string) string { return hexSHA256(hexSHA256(text) + secret) }
