package input

import (
	"holdfast/internal/book/limits"
	"holdfast/internal/domain/protection"
)

// LimitFields reads the fields of a limit.
func LimitFields(in *Input) limits.LimitFields {
	f := limits.LimitFields{
		Scope: Word[protection.LimitScope](in, "scope"), ChannelID: in.Integer("channels"),
		From: in.Day("from"), Amount: in.Integer("amount"), Note: in.TextOr("note"),
	}
	if lift := in.Boolean("lift"); lift != nil {
		f.Lift = *lift
	}
	f.Problems = *in.Problems // now that all fields are read
	return f
}
