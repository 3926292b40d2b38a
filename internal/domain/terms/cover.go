package terms

import (
	"slices"
	"strings"
	"time"

	"holdfast/internal/domain/check"
	"holdfast/internal/errs"
)

// Cover is the terms of cover of a policy, which limit the covered amount of claims (R13). The terms of the policy in force at the
// trigger apply. An amount of 0 means that the policy has no such term.
type Cover struct {
	Deductible     int64 `json:"deductible"`      // minor units of the policy currency, of each insolvency: borne by the site
	CoinsurancePPM int64 `json:"coinsurance_ppm"` // parts per million of the amount above the deductible: borne by the site
	MerchantLimit  int64 `json:"merchant_limit"`  // minor units of the policy currency, of each insolvency
	AggregateLimit int64 `json:"aggregate_limit"` // minor units of the policy currency, of all insolvencies of a year of account
	NotifyWithin   int64 `json:"notify_within"`   // months after the trigger: a dispute received later is not payable
	TwoSignatures  int64 `json:"two_signatures"`  // the covered amount above which a claim needs two approvals; minor units of the policy currency
	// DevelopmentPPM is the share of undisputed, undelivered amounts that is expected to be disputed, in parts per million. It
	// is an assumption of the reserve, so the policy in force on the day of a report applies.
	DevelopmentPPM int64 `json:"development_ppm"`
	// OtherProtectionFirst are the kinds of other protection of travellers that pay before this policy does.
	OtherProtectionFirst []string `json:"other_protection_first"`
	// RecoveryOrder is the order in which recoveries are paid out. It has each of Bearers once.
	RecoveryOrder []Bearer `json:"recovery_order"`
}

// CoverFields are the fields of a request that changes the terms of cover. Absent fields are nil: they stay.
type CoverFields struct {
	Deductible           *int64    `json:"deductible,omitempty"`
	CoinsurancePPM       *int64    `json:"coinsurance_ppm,omitempty"`
	MerchantLimit        *int64    `json:"merchant_limit,omitempty"`
	AggregateLimit       *int64    `json:"aggregate_limit,omitempty"`
	NotifyWithin         *int64    `json:"notify_within,omitempty"`
	TwoSignatures        *int64    `json:"two_signatures,omitempty"`
	DevelopmentPPM       *int64    `json:"development_ppm,omitempty"`
	OtherProtectionFirst *[]string `json:"other_protection_first,omitempty"`
	RecoveryOrder        *[]Bearer `json:"recovery_order,omitempty"`
}

// Fields are the fields that set all terms of cover.
func (c Cover) Fields() CoverFields {
	return CoverFields{
		Deductible: &c.Deductible, CoinsurancePPM: &c.CoinsurancePPM, MerchantLimit: &c.MerchantLimit,
		AggregateLimit: &c.AggregateLimit, NotifyWithin: &c.NotifyWithin, TwoSignatures: &c.TwoSignatures,
		DevelopmentPPM: &c.DevelopmentPPM, OtherProtectionFirst: &c.OtherProtectionFirst, RecoveryOrder: &c.RecoveryOrder,
	}
}

func (f CoverFields) apply(c *Cover) {
	check.Set(&c.Deductible, f.Deductible)
	check.Set(&c.CoinsurancePPM, f.CoinsurancePPM)
	check.Set(&c.MerchantLimit, f.MerchantLimit)
	check.Set(&c.AggregateLimit, f.AggregateLimit)
	check.Set(&c.NotifyWithin, f.NotifyWithin)
	check.Set(&c.TwoSignatures, f.TwoSignatures)
	check.Set(&c.DevelopmentPPM, f.DevelopmentPPM)
	check.Set(&c.OtherProtectionFirst, f.OtherProtectionFirst)
	check.Set(&c.RecoveryOrder, f.RecoveryOrder)
}

// needAmounts adds a problem for each amount in the old currency that has no new value.
func (f CoverFields) needAmounts(before Cover, p *errs.Problems) {
	for _, amount := range []struct {
		field  string
		given  *int64
		before int64
	}{
		{"deductible", f.Deductible, before.Deductible}, {"merchant_limit", f.MerchantLimit, before.MerchantLimit},
		{"aggregate_limit", f.AggregateLimit, before.AggregateLimit}, {"two_signatures", f.TwoSignatures, before.TwoSignatures},
	} {
		if amount.given == nil && amount.before != 0 {
			p.Missing(amount.field)
		}
	}
}

// check adds the problems of the cover to p.
func (c Cover) check(p *errs.Problems) {
	checkBetween(p, "deductible", c.Deductible, 0, check.MaxAmount)
	checkBetween(p, "coinsurance_ppm", c.CoinsurancePPM, 0, maxPPM)
	checkBetween(p, "merchant_limit", c.MerchantLimit, 0, check.MaxAmount)
	checkBetween(p, "aggregate_limit", c.AggregateLimit, 0, check.MaxAmount)
	checkBetween(p, "notify_within", c.NotifyWithin, 1, maxNotifyWithin)
	checkBetween(p, "two_signatures", c.TwoSignatures, 0, check.MaxAmount)
	checkBetween(p, "development_ppm", c.DevelopmentPPM, 0, maxPPM)
	for i, kind := range c.OtherProtectionFirst {
		if !slices.Contains(OtherProtections, kind) || slices.Contains(c.OtherProtectionFirst[:i], kind) {
			p.Wrong("other_protection_first", "Must be a list of different values from: %s.", strings.Join(OtherProtections, ", "))
			break
		}
	}
	if !slices.Equal(slices.Sorted(slices.Values(c.RecoveryOrder)), Bearers) {
		p.Wrong("recovery_order", "Must contain each of these once: deductible, insurer, site.")
	}
}

// Bearer bears a part of a loss, and shares in recoveries.
type Bearer string

// The bearers.
const (
	BearerDeductible Bearer = "deductible" // the site, for the deductible
	BearerInsurer    Bearer = "insurer"    // for the covered amount
	BearerSite       Bearer = "site"       // for the coinsurance and the excess over the limits
)

// Bearers lists the bearers in the default order of recoveries. It is also alphabetical: check relies on it.
var Bearers = []Bearer{BearerDeductible, BearerInsurer, BearerSite}

// BearersOf reads bearers by their names. Unknown ones are found when the policy is checked.
func BearersOf(names []string) *[]Bearer {
	list := make([]Bearer, len(names))
	for i, name := range names {
		list[i] = Bearer(name)
	}
	return &list
}

// OtherProtections are the kinds of other protection that can pay before a policy.
var OtherProtections = []string{"bond", "trust_account", "insurance", "scheme"}

// The defaults of R13.
const (
	defaultNotifyWithin = 12
	maxNotifyWithin     = 120
	defaultDevelopment  = maxPPM // 100 %
)

// DefaultCover has the terms of a new site: everything payable is covered, without limit.
func DefaultCover() Cover {
	return Cover{
		NotifyWithin: defaultNotifyWithin, DevelopmentPPM: defaultDevelopment,
		OtherProtectionFirst: []string{}, RecoveryOrder: slices.Clone(Bearers),
	}
}

// NotifyBy is the deadline for reporting disputes of an insolvency: notify_within months after the trigger. If the last month has no
// such day, it is its last day.
func (c Cover) NotifyBy(trigger time.Time) time.Time {
	trigger = trigger.UTC()
	by := trigger.AddDate(0, int(c.NotifyWithin), 0)
	if by.Day() != trigger.Day() {
		by = by.AddDate(0, 0, -by.Day())
	}
	return by
}
