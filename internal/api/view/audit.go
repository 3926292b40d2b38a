package view

import (
	"encoding/json"

	"holdfast/internal/platform/audit"
)

// auditShape is an audit record on the wire. Its instants have microseconds, because the hash includes them.
type auditShape struct {
	ID           int64           `json:"id"`
	SiteID       int64           `json:"site_id"`
	At           string          `json:"at"`
	RealAt       string          `json:"real_at"`
	UserID       int64           `json:"user_id"`
	Username     string          `json:"username"`
	Role         string          `json:"role"`
	TokenID      int64           `json:"token_id"`
	Address      string          `json:"address"`
	RequestID    string          `json:"request_id"`
	Action       string          `json:"action"`
	Object       string          `json:"object"`
	Before       json.RawMessage `json:"before"`
	After        json.RawMessage `json:"after"`
	PreviousHash string          `json:"previous_hash"`
	Hash         string          `json:"hash"`
}

// ShowAudit gives an audit record in the shape of the wire, to be encoded as JSON. The command line prints it too.
func ShowAudit(r audit.Entry) auditShape {
	return auditShape{
		ID: r.ID, SiteID: r.SiteID, At: r.At.Format(ISOMicros), RealAt: r.RealAt.Format(ISOMicros), UserID: r.UserID,
		Username: r.Username, Role: r.Role, TokenID: r.TokenID, Address: r.Address, RequestID: r.RequestID,
		Action: r.Action, Object: r.Object, Before: json.RawMessage(r.Before), After: json.RawMessage(r.After),
		PreviousHash: r.PreviousHash, Hash: r.Hash,
	}
}
