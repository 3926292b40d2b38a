package core

import (
	"cmp"
	"strings"
	"time"
)

// GatewaySettings are what of taking payments differs between deployments; zero values stand for the defaults.
type GatewaySettings struct {
	BaseURL       string        // under which shoppers come back, without a slash at its end
	CallTimeout   time.Duration // how long a processor may take to answer; 20 seconds
	ChallengeLife time.Duration // how long a shopper may take to pass a challenge; 30 minutes
	InFlight      int           // how many payments may wait for processors at once; 64
}

// GatewaySettingsOf are the settings, with the defaults where they say nothing. The core is shared, and is not written to.
func GatewaySettingsOf(c *Core) GatewaySettings {
	s := c.Processing
	s.BaseURL = strings.TrimSuffix(s.BaseURL, "/")
	s.CallTimeout = cmp.Or(s.CallTimeout, 20*time.Second)
	s.ChallengeLife = cmp.Or(s.ChallengeLife, 30*time.Minute)
	s.InFlight = cmp.Or(s.InFlight, 64)
	return s
}
