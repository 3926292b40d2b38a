package claim

import (
	"fmt"
	"io"
	"strings"

	"holdfast/internal/domain/money"
)

// snapshotColumns are the columns of a snapshot as text.
const snapshotColumns = "allocation,transaction,booking,currency,remaining,undelivered,last_day,policy_currency,from_rate,to_rate,not_eligible"

// WriteHead writes the first two lines of a snapshot as text: its origin and the names of the columns. The SHA-256 of a snapshot is
// that of these lines and its other lines in order of the allocations.
func (f Failure) WriteHead(w io.Writer, siteID, channelID int64) error {
	_, err := fmt.Fprintf(w, "snapshot 1,site %d,channel %d,trigger %s,confirmed %s\n%s\n", siteID, channelID,
		f.TriggerAt.UTC().Format(instantText), f.ConfirmedAt.UTC().Format(instantText), snapshotColumns)
	return err
}

// instantText has the six digits that are stored.
const instantText = "2006-01-02T15:04:05.000000Z"

// Text is a line of the snapshot as text. Amounts are minor units. Rates are in units per EUR, as published; they are empty if the
// two currencies are equal, or if the allocation waits for a rate.
func (l SnapshotLine) Text() string {
	policy, from, to := l.RateTexts()
	return strings.Join([]string{
		fmt.Sprint(l.AllocationID), fmt.Sprint(l.TransactionID), fmt.Sprint(l.BookingID), string(l.Currency), fmt.Sprint(l.Remaining),
		fmt.Sprint(l.Undelivered), l.LastDay.String(), string(policy), from, to, string(l.Ineligible),
	}, ",") + "\n"
}

// RateTexts returns the policy currency and the two legs of the locked rate, in units per EUR. All are empty if the allocation waits
// for a rate.
func (l SnapshotLine) RateTexts() (policy money.Currency, from, to string) {
	if !l.Priced {
		return "", "", ""
	}
	return l.Quote.To, l.Quote.FromLeg.Rate.String(), l.Quote.ToLeg.Rate.String()
}
