package input

import "holdfast/internal/book/claims"

// NewRecovery reads the fields of a recovery.
func NewRecovery(in *Input) claims.NewRecovery {
	r := claims.NewRecovery{
		InsolvencyID: in.Integer("insolvencies"), Kind: Word[claims.RecoveryKind](in, "kind"), Day: in.Day("date"),
		Currency: in.Currency("currencies"), Amount: in.Integer("total"), Reference: in.TextOr("reference"),
	}
	r.Problems = *in.Problems // now that all fields are read
	return r
}

// ClaimsMonth reads the month of a claims bordereau.
func ClaimsMonth(in *Input) claims.BordereauQuery {
	q := claims.BordereauQuery{Month: in.TextOr("period")}
	q.Problems = *in.Problems // now that all fields are read
	return q
}
