package input

import "holdfast/internal/notify/webhooks"

// WebhookFields reads the fields of a webhook. The state is named as answers name it.
func WebhookFields(in *Input) webhooks.EndpointFields {
	f := webhooks.EndpointFields{URL: in.Text("url"), Types: in.Texts("types")}
	if state := Word[webhooks.State](in, "state"); state != nil {
		f.Enabled = new(*state == webhooks.Enabled)
		if *state != webhooks.Enabled && *state != webhooks.Disabled {
			in.Wrong("state", "Must be one of: enabled, disabled.")
		}
	}
	f.Problems = *in.Problems // now that all fields are read
	return f
}

// Replay says how many events are sent again.
type Replay struct {
	Events int `json:"events"`
}
