package approvals

import "holdfast/internal/domain/proposal"

// Filter picks proposals from a list. An empty field picks all.
type Filter struct {
	States []proposal.State
	Kinds  []proposal.Kind
}
