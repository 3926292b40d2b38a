package view

import (
	"encoding/json"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/proposal"
)

// proposalShape is a proposal in answers.
type proposalShape struct {
	ID             int64           `json:"id"`
	Kind           string          `json:"kind"`
	Subject        string          `json:"subject"`
	Payload        json.RawMessage `json:"payload"`
	Effect         json.RawMessage `json:"effect"`
	Reason         string          `json:"reason"`
	State          string          `json:"state"`
	Alone          bool            `json:"alone"`
	ProposedBy     string          `json:"proposed_by"`
	ProposedByID   int64           `json:"proposed_by_id"`
	ProposedAt     string          `json:"proposed_at"`
	DecidedBy      *string         `json:"decided_by"`
	DecidedByID    *int64          `json:"decided_by_id"`
	DecidedAt      *string         `json:"decided_at"`
	DecisionReason string          `json:"decision_reason"`
	Result         json.RawMessage `json:"result"`
}

// ShowProposal gives the shape of a proposal, to be encoded as JSON.
func ShowProposal(p proposal.Proposal) proposalShape {
	shape := proposalShape{
		ID: p.ID, Kind: string(p.Kind), Subject: p.Subject, Payload: json.RawMessage(p.Payload), Effect: json.RawMessage("null"), Reason: p.Reason,
		State: string(p.State), Alone: p.Alone, ProposedBy: p.ProposedBy, ProposedByID: p.ProposedByID,
		ProposedAt: civil.FormatInstant(p.ProposedAt), DecisionReason: p.DecisionReason, Result: json.RawMessage("null"),
	}
	if p.Effect != "" {
		shape.Effect = json.RawMessage(p.Effect)
	}
	if !p.DecidedAt.IsZero() {
		at := civil.FormatInstant(p.DecidedAt)
		shape.DecidedBy, shape.DecidedByID, shape.DecidedAt = &p.DecidedBy, &p.DecidedByID, &at
	}
	if p.Result != "" {
		shape.Result = json.RawMessage(p.Result)
	}
	return shape
}
