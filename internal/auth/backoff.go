package auth

import "time"

// The rule of Backoff: who mistypes is not bothered, who guesses gets some hundred tries a day.
const (
	freeFailures = 4
	maxBackoff   = 15 * time.Minute
)

// Backoff is how long after the last of so many failed logins in a row the next attempt is looked at at all: nothing up
// to the fourth, one second after the fifth, then twice as long each time, 15 minutes at most.
//
// Failures are counted twice over, and the longer wait holds: per account, against many addresses guessing at one
// password, and per address, against one address trying many accounts. Names that do not exist are counted like those
// that do, or the wait would tell them apart. A wrong second factor is a failure too. A success clears the account's
// count but not the address's, else one account of the attacker's own would reset it. There is no lock beyond the
// maximum: it would let anybody shut a user out for good.
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
