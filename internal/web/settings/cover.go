package settings

import (
	"strconv"
	"strings"

	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/web/kit"
)

// coverFacts shows the terms of cover of a policy.
func coverFacts(y terms.Policy) []kit.Fact {
	c := y.Cover
	facts := []kit.Fact{}
	for _, amount := range []struct {
		title, none string
		value       int64
	}{
		{"Deductible per insolvency", "None", c.Deductible}, {"Merchant limit per insolvency", "No limit", c.MerchantLimit},
		{"Aggregate limit per year", "No limit", c.AggregateLimit}, {"Second approval of claims above", "Never", c.TwoSignatures},
	} {
		if amount.value == 0 {
			facts = append(facts, kit.Fact{Text: amount.title, Value: amount.none})
			continue
		}
		facts = append(facts, kit.Fact{Text: amount.title, Value: kit.Money(amount.value, y.Currency), Figure: true})
	}
	first := "None"
	if len(c.OtherProtectionFirst) > 0 {
		first = sayAll(c.OtherProtectionFirst)
	}
	return append(facts,
		kit.Fact{Text: "Coinsurance", Value: percent(c.CoinsurancePPM)},
		kit.Fact{Text: "Report disputes within", Value: kit.Plural(c.NotifyWithin, "month", "months")},
		kit.Fact{Text: "Expected development", Value: percent(c.DevelopmentPPM)},
		kit.Fact{Text: "Other protection that pays first", Value: first},
		kit.Fact{Text: "Order of recoveries", Value: sayAll(c.RecoveryOrder)},
	)
}

func sayAll[T ~string](list []T) string {
	names := make([]string, len(list))
	for i, word := range list {
		names[i] = kit.Say(word)
	}
	return strings.Join(names, ", ")
}

// fillCover fills the form with the terms of cover of a policy.
func fillCover(form *kit.Form, y terms.Policy) {
	c := y.Cover
	for field, value := range map[string]int64{
		"deductible": c.Deductible, "merchant_limit": c.MerchantLimit, "aggregate_limit": c.AggregateLimit, "two_signatures": c.TwoSignatures,
	} {
		if value != 0 {
			form.Values.Set(field, money.FormatPlain(value, y.Currency))
		}
	}
	form.Values.Set("coinsurance_ppm", money.FormatPercent(c.CoinsurancePPM))
	form.Values.Set("development_ppm", money.FormatPercent(c.DevelopmentPPM))
	form.Values.Set("notify_within", strconv.FormatInt(c.NotifyWithin, 10))
	form.Values.Set("other_protection_first", strings.Join(c.OtherProtectionFirst, ", "))
	order := make([]string, len(c.RecoveryOrder))
	for i, bearer := range c.RecoveryOrder {
		order[i] = string(bearer)
	}
	form.Values.Set("recovery_order", strings.Join(order, ", "))
}

// readCover reads the terms of cover. An empty amount is a term that the policy does not have.
func readCover(r *kit.Reading, c money.Currency) terms.CoverFields {
	amount := func(field string) *int64 {
		if !r.Sent(field) {
			return nil
		}
		return minimum(r, field, c)
	}
	f := terms.CoverFields{
		Deductible: amount("deductible"), MerchantLimit: amount("merchant_limit"), AggregateLimit: amount("aggregate_limit"),
		TwoSignatures: amount("two_signatures"), CoinsurancePPM: readPercent(r, "coinsurance_ppm"),
		DevelopmentPPM: readPercent(r, "development_ppm"), NotifyWithin: r.Number("notify_within"),
		OtherProtectionFirst: r.Items("other_protection_first"),
	}
	if r.Sent("notify_within") {
		needed(r, "notify_within")
	}
	if order := r.Items("recovery_order"); order != nil {
		f.RecoveryOrder = terms.BearersOf(*order)
	}
	return f
}

// readPercent reads a percentage such as 12.5 or 12.5 %.
func readPercent(r *kit.Reading, field string) *int64 {
	if !r.Sent(field) {
		return nil
	}
	ppm, err := money.ParsePercent(strings.TrimSpace(strings.TrimSuffix(r.Get(field), "%")))
	if err != nil {
		r.Problems.Wrong(field, "Enter a percentage, such as 12.5.")
		return nil
	}
	return &ppm
}
