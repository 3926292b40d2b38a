package app

import (
	"holdfast/internal/psp"
	"holdfast/internal/store"
	"holdfast/internal/travel"
)

// sandboxProcessor is the processor inside the program, at which test channels are paid in the modal where the
// deployment takes no payments itself.
const sandboxProcessor = "sandbox"

// sandboxed reports whether the channel has its account at the sandbox processor by itself.
func sandboxed(c *Core, channel travel.Channel, processor string) bool {
	return processor == sandboxProcessor && channel.WasTest && !c.Profile.Processes() && c.Gateways[sandboxProcessor] != nil
}

// takesAt reports whether the channel has an account at the processor.
func takesAt(c *Core, channel travel.Channel, processor string) bool {
	return channel.Processor == processor || sandboxed(c, channel, processor)
}

// sandboxAccount is the account of a channel at the sandbox processor that nobody had to set up.
func sandboxAccount(c *Core, tx *store.Tx, channel travel.Channel) (g psp.Gateway, account psp.Account, err error) {
	site, err := store.Site(tx, channel.SiteID)
	if err != nil {
		return nil, account, err
	}
	account = accountWith(site, channel, Credentials{Key: "payment modal of " + channel.UUID})
	account.Now = tx.Now
	return c.Gateways[sandboxProcessor], account, nil
}
