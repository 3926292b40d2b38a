package claim

import (
	"slices"

	"holdfast/internal/domain/terms"
)

// State is the state of a claim (R13).
type State string

// The states of a claim.
const (
	StateOpen      State = "open"
	StateAssessed  State = "assessed"
	StateApproved  State = "approved"
	StatePaid      State = "paid" // its covered amount is paid
	StateRejected  State = "rejected"
	StateWithdrawn State = "withdrawn"
)

// States lists the states in their order.
var States = []State{StateOpen, StateAssessed, StateApproved, StatePaid, StateRejected, StateWithdrawn}

// Refusal is the reason why a step of a review is not possible. It is empty if the step is possible.
type Refusal string

// The refusals.
const (
	RefusedState    Refusal = "state"             // the state of the claim does not allow it
	RefusedUnnamed  Refusal = "person_unknown"    // the caller is not a known person
	RefusedAssessor Refusal = "assessor"          // the assessor cannot approve
	RefusedTwice    Refusal = "already_approved"  // a second approval needs a second person
	RefusedChanged  Refusal = "assessment_is_old" // the payable amount has changed since the assessment
)

// Reviewer is the person who takes a step of a review.
type Reviewer struct {
	ID    int64 // 0 if unknown
	Alone bool  // in a sandbox one person may take every step
}

// Review is the assessment of a claim and its approvals. Its methods return the review after a step, or why it is not possible.
type Review struct {
	State      State
	AssessedBy int64
	Assessed   int64   // payable when the claim was assessed, base currency
	ApprovedBy []int64 // in the order of the approvals
}

// Dropped reports whether the claim was rejected or withdrawn.
func (r Review) Dropped() bool { return r.State == StateRejected || r.State == StateWithdrawn }

// Approved reports whether the covered amount may be paid.
func (r Review) Approved() bool { return r.State == StateApproved || r.State == StatePaid }

// Assess records the assessment of a payable amount. It can be repeated until the claim is approved; earlier approvals no longer
// count then.
func (r Review) Assess(by Reviewer, payable int64) (Review, Refusal) {
	switch {
	case r.State != StateOpen && r.State != StateAssessed:
		return r, RefusedState
	case by.ID == 0 && !by.Alone:
		return r, RefusedUnnamed
	}
	return Review{State: StateAssessed, AssessedBy: by.ID, Assessed: payable}, ""
}

// Approve adds the approval of a person other than the assessor. If more is covered than the policy's two_signatures, the claim
// needs two. payable is the current amount: it must be the one that was assessed.
func (r Review) Approve(by Reviewer, payable, covered int64, c terms.Cover) (Review, Refusal) {
	switch {
	case r.State != StateAssessed:
		return r, RefusedState
	case payable != r.Assessed:
		return r, RefusedChanged
	case by.Alone:
		r.State, r.ApprovedBy = StateApproved, []int64{by.ID}
		return r, ""
	case by.ID == 0:
		return r, RefusedUnnamed
	case by.ID == r.AssessedBy:
		return r, RefusedAssessor
	case slices.Contains(r.ApprovedBy, by.ID):
		return r, RefusedTwice
	}
	r.ApprovedBy = append(slices.Clone(r.ApprovedBy), by.ID)
	if c.TwoSignatures == 0 || covered <= c.TwoSignatures || len(r.ApprovedBy) > 1 {
		r.State = StateApproved
	}
	return r, ""
}

// Drop rejects or withdraws the claim: to is StateRejected or StateWithdrawn. Amounts already paid become overpaid.
func (r Review) Drop(to State) (Review, Refusal) {
	if r.Dropped() {
		return r, RefusedState
	}
	return Review{State: to}, ""
}

// Reopen makes the claim open again: it has to be assessed and approved anew.
func (r Review) Reopen() (Review, Refusal) {
	if r.State == StateOpen {
		return r, RefusedState
	}
	return Review{State: StateOpen}, ""
}

// Follow is the review after the payable amount has changed. An increase above the assessed amount must be assessed and approved
// again; a decrease keeps the approval. paid reports whether the covered amount is paid.
func (r Review) Follow(payable int64, paid bool) Review {
	switch {
	case r.Approved() && payable > r.Assessed:
		return Review{State: StateOpen}
	case r.State == StateApproved && paid:
		r.State = StatePaid
	case r.State == StatePaid && !paid:
		r.State = StateApproved
	}
	return r
}

// PayoutState is the state of a payout (R13).
type PayoutState string

// The states of a payout.
const (
	PayoutPlanned PayoutState = "planned"
	PayoutSigned  PayoutState = "signed"
	PayoutPaid    PayoutState = "paid"   // with the reference of the bank
	PayoutFailed  PayoutState = "failed" // its claims are planned anew
)

// PayoutStates lists the states in their order.
var PayoutStates = []PayoutState{PayoutPlanned, PayoutSigned, PayoutPaid, PayoutFailed}

// Can reports whether a payout can go from its state to another. A payout that was paid or failed stays so: it is paid once.
func (s PayoutState) Can(to PayoutState) bool {
	switch to {
	case PayoutSigned:
		return s == PayoutPlanned
	case PayoutPaid:
		return s == PayoutSigned
	case PayoutFailed:
		return s == PayoutPlanned || s == PayoutSigned
	default:
		return false
	}
}

// Counts reports whether its amounts count as paid, so that they are not planned again.
func (s PayoutState) Counts() bool { return s != PayoutFailed }
