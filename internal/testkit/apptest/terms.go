package apptest

import (
	"holdfast/internal/book/limits"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
)

// Fix stores the rates of a day, each for one euro.
func (w *World) Fix(day string, rates map[money.Currency]string) {
	w.t.Helper()
	d, err := civil.ParseDay(day)
	if err != nil {
		w.t.Fatal(err)
	}
	var list []fx.Fixing
	for c, text := range rates {
		r, err := money.ParseRate(text)
		if err != nil {
			w.t.Fatal(err)
		}
		list = append(list, fx.Fixing{Provider: fx.ECB, Day: d, Currency: c, Rate: r})
	}
	if _, err := w.App.Rates.Add(w.t.Context(), w.Actor, list); err != nil {
		w.t.Fatal(err)
	}
}

// Policy adds a policy.
func (w *World) Policy(in terms.PolicyFields) terms.Policy {
	w.t.Helper()
	made, err := w.App.Policies.Set(w.t.Context(), w.Actor, in)
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

// Limit sets a limit for one channel, or for all if channel is 0.
func (w *World) Limit(scope protection.LimitScope, channel, amount int64) protection.Limit {
	w.t.Helper()
	in := limits.LimitFields{Scope: &scope, Amount: &amount}
	if channel != 0 {
		in.ChannelID = &channel
	}
	made, err := w.App.Limits.Set(w.t.Context(), w.Actor, in)
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}
