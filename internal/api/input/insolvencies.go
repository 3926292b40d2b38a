package input

import "holdfast/internal/book/insolvencies"

// InsolvencyReport reads the fields of a reported failure.
func InsolvencyReport(in *Input) insolvencies.NewReport {
	r := insolvencies.NewReport{
		ChannelID: in.Integer("channels"), Kind: Word[insolvencies.Kind](in, "kind"), TriggerAt: in.Instant("trigger_at"),
		Evidence: in.TextOr("evidence"),
	}
	r.Problems = *in.Problems // now that all fields are read
	return r
}
