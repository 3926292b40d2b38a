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
