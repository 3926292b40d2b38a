package auth

import "time"

// The numbers of Backoff: a user who mistypes does not have to wait, and an attacker gets about a hundred tries a
// day.
const (
	freeFailures = 4
	maxBackoff   = 15 * time.Minute
)

// Backoff is how long the next login has to wait after a number of failed logins in a row: not at all up to four
// failures, one second after the fifth, and then twice as long each time, up to 15 minutes. An earlier attempt is
// refused without a look at the password.
//
// Callers count failures by account, because many addresses may guess one password, and by address, because one
// address may try many accounts. The longer wait counts. Names that do not exist are counted in the same way:
// otherwise the wait would show which names exist. A wrong second factor is a failure, too. A success clears both counts:
// many people may share an address, and one of them must not make the others wait. No account is locked for good:
// otherwise anybody could lock a user out.
func Backoff(failures int) time.Duration {
	wait := time.Second
	if failures <= freeFailures {
		return 0
	}
	for n := freeFailures + 1; n < failures && wait < maxBackoff; n++ {
		wait *= 2
	}
	return min(wait, maxBackoff)
}
