package merchants

import (
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/psp"
	"holdfast/internal/travel"
)

// SandboxProcessor is the processor inside the program, at which test channels are paid in the modal where the
// deployment takes no payments itself.
const SandboxProcessor = "sandbox"

// sandboxed reports whether the channel has its account at the sandbox processor by itself.
func sandboxed(c *core.Core, channel travel.Channel, processor string) bool {
	return processor == SandboxProcessor && channel.WasTest && !c.Profile.Processes() && c.Gateways[SandboxProcessor] != nil
}

// TakesAt reports whether the channel has an account at the processor.
func TakesAt(c *core.Core, channel travel.Channel, processor string) bool {
	return channel.Processor == processor || sandboxed(c, channel, processor)
}

// sandboxAccount is the account of a channel at the sandbox processor that nobody had to set up.
func sandboxAccount(c *core.Core, tx *db.Tx, channel travel.Channel) (g psp.Gateway, account psp.Account, err error) {
	site, err := Site(tx, channel.SiteID)
	if err != nil {
		return nil, account, err
	}
	account = accountWith(site, channel, Credentials{Key: "payment modal of " + channel.UUID})
	account.Now = tx.Now
	return c.Gateways[SandboxProcessor], account, nil
}
