package sessions

import "time"

// The numbers of Backoff: a user who mistypes does not have to wait, and an attacker gets about a hundred tries a
// day.
const (
	freeFailures = 4
	maxBackoff   = 15 * time.Minute
)

// AttackFailures is how many failures of one account from anywhere, or of one address for any account, look like an attack.
const AttackFailures = 20

// Backoff is how long the next login has to wait after a number of failed logins in a row: not at all up to four
// failures, one second after the fifth, and then twice as long each time, up to 15 minutes. Earlier attempts are
// rejected without checking the password.
//
// Callers count failures by the pair of account and address, so that users cannot block each other: a stranger who
// guesses has to wait; the owner of the account, at another address, does not. A device that has logged in before is
// counted separately. Names that do not exist are counted in the same way: otherwise the wait would show which names
// exist. A wrong second factor is also a failure. A success clears the counts.
func Backoff(failures int) time.Duration { return backoff(failures, freeFailures) }

// BackoffUnderAttack is Backoff without free failures. It is for an account under attack from many addresses, and for
// an address that attacks many accounts: each pair gets one try before it waits. So a caller without failures is never
// held up, not even at an address that all clients share.
func BackoffUnderAttack(failures int) time.Duration { return backoff(failures, 0) }

func backoff(failures, free int) time.Duration {
	wait := time.Second
	if failures <= free {
		return 0
	}
	for n := free + 1; n < failures && wait < maxBackoff; n++ {
		wait *= 2
	}
	return min(wait, maxBackoff)
}
