package terms

import (
	"time"

	"holdfast/internal/domain/card"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/errs"
)

// Contract is the underwriting contract as bordereaux show it, from a day on. It does not affect premium.
type Contract struct {
	ID            int64 // 0: there is none
	FromDay       civil.Day
	Reference     string // such as the UMR, the unique market reference
	Year          int64  // of account; 0 for none
	CommissionPPM int64  // parts per million of the net premium, which the broker or the operator keeps
	RecordedAt    time.Time
	RecordedBy    string
}

// ContractFields are the fields of a new contract. From is today where it is nil.
type ContractFields struct {
	Problems      errs.Problems
	From          *civil.Day
	Reference     *string
	Year          *int64
	CommissionPPM *int64
}

// The bounds of a contract.
const (
	firstAccount  = 1990
	lastAccount   = 2200
	maxCommission = 1_000_000
)

// Contract checks the fields. The errors are Missing and Invalid, about reference, year_of_account and commission_ppm.
func (f ContractFields) Contract(today civil.Day) (c Contract, err error) {
	problems := f.Problems.Clone()
	c.FromDay = today
	if f.From != nil {
		c.FromDay = *f.From
	}
	if f.Reference == nil || *f.Reference == "" {
		problems.Missing("reference")
	} else {
		c.Reference = *f.Reference
		check.Line(&problems, "reference", c.Reference)
		if card.HoldsCardNumber(c.Reference) {
			problems.Wrong("reference", "Must not contain a card number.")
		}
	}
	if f.Year != nil {
		if c.Year = *f.Year; c.Year != 0 && (c.Year < firstAccount || c.Year > lastAccount) {
			problems.Wrong("year_of_account", "Must be a year from %d to %d.", firstAccount, lastAccount)
		}
	}
	if f.CommissionPPM != nil {
		if c.CommissionPPM = *f.CommissionPPM; c.CommissionPPM < 0 || c.CommissionPPM > maxCommission {
			problems.Wrong("commission_ppm", "Must be from 0 to 1000000 parts per million, which is 100 %%.")
		}
	}
	return c, problems.Err()
}
