package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/book/payments"
	"holdfast/internal/book/pspevents"
)

// maxEvent is how many bytes the body of a processor's event may have.
const maxEvent = 256 << 10

// returnFromChallenge sends a shopper returning from a challenge to the merchant's page. It ignores additions to the
// URL, because anyone can write them, and asks the processor instead.
func (s *server) returnFromChallenge(c *call) error {
	address, err := s.app.GatewayPayments.Return(c.ctx, c.r.PathValue("key"))
	if err != nil {
		return err
	}
	c.Header().Set("Location", address)
	c.WriteHeader(http.StatusSeeOther)
	return nil
}

// taken is the answer to an event.
type taken struct {
	Received bool `json:"received"`
}

// takeProcessorEvent stores an event from a processor. It responds immediately, because processors wait for a few
// seconds only.
func (s *server) takeProcessorEvent(c *call) error {
	processor := c.r.PathValue("processor")
	site, ok := input.ParseID(c.r.PathValue("site_id"))
	channel, alsoOK := input.ParseID(c.r.PathValue("channel_id"))
	if !ok || !alsoOK {
		return errNoRoute()
	}
	if c.bodyErr != nil {
		return c.bodyErr
	}
	// Each processor signs in a header of its own name, such as Stripe-Signature.
	event := pspevents.Event{Processor: processor, SiteID: site, ChannelID: channel, Signature: c.r.Header.Get(processor + "-Signature"), Body: c.body}
	if err := s.app.Notices.Take(c.ctx, event); err != nil {
		return err
	}
	c.json(http.StatusOK, taken{true})
	return nil
}

// returnPattern is the address at which shoppers come back.
const returnPattern = payments.ReturnPath + "{key}"
