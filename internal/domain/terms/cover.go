package terms

import (
	"slices"
	"time"
)

// Cover is what a policy pays of the claims of an insolvency (R13). The terms of the policy in force at the trigger count. An
// amount of 0 means that the policy has no such term.
type Cover struct {
	Deductible         int64 // minor units of the policy currency, of each insolvency: borne by the site
	CoinsurancePPM     int64 // parts per million of what exceeds the deductible: borne by the site
	MerchantLimit      int64 // minor units of the policy currency, of each insolvency
	AggregateLimit     int64 // minor units of the policy currency, of all insolvencies of a year of account
	NotifyWithinMonths int64 // after the trigger: a dispute received later is not payable
	TwoSignatures      int64 // a claim with a covered part above it needs two approvals; minor units of the policy currency
	// DevelopmentPPM is how much of what travellers have not disputed yet is expected to be disputed, in parts per million. It
	// is an assumption of the reserve, so that of the policy in force on the day of a report counts.
	DevelopmentPPM int64
	// PaysAfter are the kinds of other protection of travellers that pay before this policy does.
	PaysAfter []string
	// RecoveryOrder says who gets a recovery first. It holds each of Bearers once.
	RecoveryOrder []Bearer
}

// Bearer bears a part of a loss, and shares in recoveries.
type Bearer string

// The bearers.
const (
	BearerDeductible Bearer = "deductible" // the site, for the deductible
	BearerInsurer    Bearer = "insurer"    // for what the cover pays
	BearerSite       Bearer = "site"       // for its coinsurance, and for all above the limits
)

// Bearers lists the bearers in the default order of recoveries.
var Bearers = []Bearer{BearerDeductible, BearerInsurer, BearerSite}

// OtherProtections are the kinds of other protection that can pay before a policy.
var OtherProtections = []string{"bond", "trust_account", "insurance", "scheme"}

// The defaults of R13.
const (
	defaultNotifyWithin = 12
	defaultDevelopment  = maxPPM // 100 %
)

// DefaultCover is the cover of a new site: everything payable, without limit.
func DefaultCover() Cover {
	return Cover{
		NotifyWithinMonths: defaultNotifyWithin, DevelopmentPPM: defaultDevelopment,
		PaysAfter: []string{}, RecoveryOrder: slices.Clone(Bearers),
	}
}

// NotifyBy is the last instant to notify a dispute of an insolvency with a trigger. A month that is too short for the day ends
// on its last day.
func (c Cover) NotifyBy(trigger time.Time) time.Time {
	trigger = trigger.UTC()
	by := trigger.AddDate(0, int(c.NotifyWithinMonths), 0)
	if by.Day() != trigger.Day() {
		by = by.AddDate(0, 0, -by.Day())
	}
	return by
}
