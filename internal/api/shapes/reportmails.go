package shapes

import (
	"slices"

	"holdfast/internal/api/wire"
	"holdfast/internal/civil"
	"holdfast/internal/standing"
)

// reportMailShape is a report that goes to people by mail, on the wire.
type reportMailShape struct {
	ID         int64           `json:"id"`
	Name       string          `json:"name"`
	View       string          `json:"view"`
	Format     standing.Format `json:"format"`
	Every      standing.Every  `json:"every"`
	On         int64           `json:"on"`
	Owner      string          `json:"owner"`
	Recipients []string        `json:"recipients"`
	State      standing.State  `json:"state"`
	Reason     string          `json:"reason"`
	Due        civil.Day       `json:"due"`
}

// ShowReportMail gives the shape of a report by mail, to be encoded as JSON.
func ShowReportMail(o standing.Order) reportMailShape {
	return reportMailShape{
		ID: o.ID, Name: o.Name, View: o.View, Format: o.Format, Every: o.Every, On: o.On, Owner: o.Owner, Recipients: slices.Sorted(slices.Values(o.Recipients)),
		State: o.State, Reason: o.Reason, Due: o.Due,
	}
}

// ReportMailFields reads the fields of a report by mail.
func ReportMailFields(in *wire.Input) standing.Fields {
	f := standing.Fields{
		Name: in.Text("name"), View: in.Text("view"), Format: wire.Word[standing.Format](in, "format"), Every: wire.Word[standing.Every](in, "every"),
		On: in.Integer("on"), Recipients: in.Texts("recipients"),
	}
	f.Problems = *in.Problems // now that all fields are read
	return f
}
