package apptest

import (
	"holdfast/internal/fault"
	"holdfast/internal/ledger"
	"holdfast/internal/money"
	"holdfast/internal/protection"
)

func (w *World) Collateral(in ledger.CollateralFields, kind protection.CollateralKind, currency money.Currency, amount int64) protection.Collateral {
	w.t.Helper()
	in.Kind, in.Currency, in.Amount = &kind, &currency, &amount
	made, err := w.App.Collaterals.Add(w.t.Context(), w.Actor, in)
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

// Held is what is held at a moment, as amounts in order of the records.
func (w *World) Held(m ledger.Moment) (amounts []int64) {
	w.t.Helper()
	list, err := w.App.Collaterals.Held(w.t.Context(), w.Actor, m, fault.Problems{}, nil, WholeList)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range list.Items {
		amounts = append(amounts, c.Amount)
	}
	return amounts
}
