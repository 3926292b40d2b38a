package input

import "holdfast/internal/notify/schedules"

// ReportMailFields reads the fields of a report by mail.
func ReportMailFields(in *Input) schedules.Fields {
	f := schedules.Fields{
		Name: in.Text("name"), View: in.Text("view"), Format: Word[schedules.Format](in, "format"), Every: Word[schedules.Every](in, "every"),
		On: in.Integer("on"), Recipients: in.Texts("recipients"),
	}
	f.Problems = *in.Problems // now that all fields are read
	return f
}
