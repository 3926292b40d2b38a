package view

import (
	"slices"

	"holdfast/internal/domain/civil"
	"holdfast/internal/notify/schedules"
)

// reportMailShape is a report that goes to people by mail, on the wire.
type reportMailShape struct {
	ID         int64            `json:"id"`
	Name       string           `json:"name"`
	View       string           `json:"view"`
	Format     schedules.Format `json:"format"`
	Every      schedules.Every  `json:"every"`
	On         int64            `json:"on"`
	Owner      string           `json:"owner"`
	Recipients []string         `json:"recipients"`
	State      schedules.State  `json:"state"`
	Reason     string           `json:"reason"`
	Due        civil.Day        `json:"due"`
}

// ShowReportMail gives the shape of a report by mail, to be encoded as JSON.
func ShowReportMail(o schedules.Schedule) reportMailShape {
	return reportMailShape{
		ID: o.ID, Name: o.Name, View: o.View, Format: o.Format, Every: o.Every, On: o.On, Owner: o.Owner, Recipients: slices.Sorted(slices.Values(o.Recipients)),
		State: o.State, Reason: o.Reason, Due: o.Due,
	}
}
