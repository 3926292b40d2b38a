package input

import (
	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/exposure"
)

// CollateralFields reads the fields of collateral.
func CollateralFields(in *Input) ledger.CollateralFields {
	f := ledger.CollateralFields{
		RecordID: in.Integer("corrects"), Kind: Word[exposure.CollateralKind](in, "kind"),
		ChannelID: in.Integer("channels"), Currency: in.Currency("currency"), Amount: in.Integer("amount"),
		From: in.Day("from"), To: in.Day("to"), Reference: in.TextOr("reference"), Note: in.TextOr("note"),
	}
	f.Problems = *in.Problems // now that all fields are read
	return f
}
