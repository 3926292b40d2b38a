package view

import (
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/civil"
)

// insolvencyShape is the failure of a merchant in answers.
type insolvencyShape struct {
	ID                int64              `json:"id"`
	Channel           int64              `json:"channels"`
	Kind              insolvencies.Kind  `json:"kind"`
	State             insolvencies.State `json:"state"`
	TriggerAt         string             `json:"trigger_at"`
	Evidence          string             `json:"evidence"`
	ReportedBy        string             `json:"reported_by"`
	ReportedAt        string             `json:"reported_at"`
	ConfirmedBy       *string            `json:"confirmed_by"`
	ConfirmedAt       *string            `json:"confirmed_at"`
	Alone             bool               `json:"alone"`
	Snapshot          *snapshotShape     `json:"snapshot"` // null until it is made
	ProcessingAllowed bool               `json:"processing_allowed"`
	ReinstatedAt      *string            `json:"reinstated_at"`
	Created           string             `json:"created"`
	Modified          string             `json:"modified"`
}

// snapshotShape is the snapshot of an insolvency in answers.
type snapshotShape struct {
	MadeAt string `json:"made_at"`
	Lines  int64  `json:"lines"`
	SHA256 string `json:"sha256"`
}

// ShowInsolvency gives the shape of an insolvency, to be encoded as JSON.
func ShowInsolvency(i insolvencies.Insolvency) insolvencyShape {
	shape := insolvencyShape{
		ID: i.ID, Channel: i.ChannelID, Kind: i.Kind, State: i.State, TriggerAt: civil.FormatInstant(i.TriggerAt), Evidence: i.Evidence,
		ReportedBy: i.ReportedBy, ReportedAt: civil.FormatInstant(i.ReportedAt), ConfirmedBy: OrNull(i.ConfirmedBy),
		ConfirmedAt: instantOrNull(i.ConfirmedAt), Alone: i.Alone, ProcessingAllowed: i.ProcessingAllowed,
		ReinstatedAt: instantOrNull(i.ReinstatedAt), Created: civil.FormatInstant(i.ReportedAt), Modified: civil.FormatInstant(i.ModifiedAt),
	}
	if s := i.Snapshot; !s.MadeAt.IsZero() {
		shape.Snapshot = &snapshotShape{civil.FormatInstant(s.MadeAt), s.Lines, s.SHA256}
	}
	return shape
}
