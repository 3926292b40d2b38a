package view

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/payment"
)

// processedShape has the fields that only some transactions have on the wire: those that a processor carried out, and
// those that were charged back.
type processedShape struct {
	Result3DS     *threeDSShape `json:"3ds_result,omitempty"`
	DeclineReason string        `json:"decline_reason,omitempty"` // in a word of this API
	DeclineCode   string        `json:"decline_code,omitempty"`   // in the word of the processor
	// The state of the last chargeback of the payment.
	ChargebackStatus string                 `json:"chargeback_status,omitempty"` // open or closed
	OutcomeStatus    payment.DisputeOutcome `json:"outcome_status,omitempty"`
	ReasonCode       string                 `json:"reason_code,omitempty"`
	ChallengeDate    string                 `json:"challenge_date,omitempty"` // the last day on which it can be answered
}

// threeDSShape is the result of an authentication by 3DS.
type threeDSShape struct {
	Status         string `json:"status"`
	Flow           string `json:"flow"`
	ECI            string `json:"eci"`
	Version        string `json:"version"`
	DirectoryID    string `json:"directory_server_id"`
	LiabilityShift bool   `json:"liability_shift"`
}

// challengeShape is a challenge that the shopper has to pass.
type challengeShape struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// response3DS is the challenge while the shopper has to pass it, and later the status of 3DS. It is empty if no
// processor carried the transaction out.
func response3DS(t payment.Transaction) any {
	switch {
	case t.GatewayCharge == nil:
		return ""
	case t.GatewayCharge.Challenge != (payment.Challenge{}):
		return challengeShape(t.GatewayCharge.Challenge)
	default:
		return t.GatewayCharge.ThreeDS.Status
	}
}

func showProcessed(t payment.Transaction) (shape processedShape) {
	if p := t.GatewayCharge; p != nil {
		shape.DeclineReason, shape.DeclineCode = p.Decline, p.Code
		if p.ThreeDS != (payment.ThreeDS{}) {
			shape.Result3DS = &threeDSShape{
				Status: p.ThreeDS.Status, Flow: p.ThreeDS.Flow, ECI: p.ThreeDS.ECI, Version: p.ThreeDS.Version,
				DirectoryID: p.ThreeDS.DirectoryID, LiabilityShift: p.ThreeDS.LiabilityShift,
			}
		}
	}
	if n := len(t.Disputes); n > 0 {
		d := t.Disputes[n-1]
		shape.ChargebackStatus, shape.OutcomeStatus, shape.ReasonCode = "open", d.Outcome, d.ReasonCode
		if d.Outcome != payment.DisputePending {
			shape.ChargebackStatus = "closed"
		}
		if d.ChallengeDay != civil.NoDay {
			shape.ChallengeDate = d.ChallengeDay.String()
		}
	}
	return shape
}
