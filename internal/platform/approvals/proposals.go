package approvals

import "holdfast/internal/domain/proposal"

// Filter picks proposals from a list. An empty field picks all.
type Filter struct {
	Include, Exclude []int64
	States           []proposal.State
	Kinds            []proposal.Kind
}

// Orders lists the values of orderby for proposals.
var Orders = []string{"id", "include"}
