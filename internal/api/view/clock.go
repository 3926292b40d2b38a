package view

import (
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/platform/clock"
)

// clockShape is the time of a site on the wire.
type clockShape struct {
	Now          string `json:"now"`
	RealNow      string `json:"real_now"`
	AheadSeconds int64  `json:"ahead_seconds"`
	Sandbox      bool   `json:"sandbox"`
}

// ShowClock gives the time of a site in the shape of the wire, to be encoded as JSON. The command line prints it too.
func ShowClock(t clock.Time) clockShape {
	return clockShape{
		Now: civil.FormatInstant(t.Now), RealNow: civil.FormatInstant(t.Real),
		AheadSeconds: int64(t.Now.Truncate(time.Second).Sub(t.Real.Truncate(time.Second)) / time.Second), Sandbox: t.Sandbox,
	}
}
