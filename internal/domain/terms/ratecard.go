package terms

import (
	"math"
	"slices"

	"holdfast/internal/errs"
)

// NoEnd is the To of the last band of a rate card, which has no end.
const NoEnd = math.MaxInt64

// RateLine is one line of a rate card: the price of a band of leads (R10). A lead is the number of days from the
// payment to the end of travel.
type RateLine struct {
	ID        int64
	ChannelID int64 // 0: for all channels that have no lines of their own
	From, To  int64 // days, both included; To is NoEnd for the last band
	PPM       int64 // parts per million of the protection value
}

// RateCard is the lines of a rate card: those of the site, and those of channels that have their own (R10).
type RateCard []RateLine

// DefaultRateCard is the rate card of a new site (R10).
func DefaultRateCard() RateCard {
	return RateCard{
		{From: 0, To: 30, PPM: 2500},
		{From: 31, To: 90, PPM: 5000},
		{From: 91, To: 180, PPM: 8500},
		{From: 181, To: 365, PPM: 12000},
		{From: 366, To: NoEnd, PPM: 16000},
	}
}

// maxRateLines is the greatest number of lines: a few bands for each of many channels.
const maxRateLines = 1000

// Line finds the line with the price of a lead for a channel. ok is false when there is none, as for a negative lead.
func (c RateCard) Line(channelID, lead int64) (line RateLine, ok bool) {
	own := slices.ContainsFunc(c, func(l RateLine) bool { return l.ChannelID == channelID })
	for _, l := range c {
		if (l.ChannelID == channelID) == own && (own || l.ChannelID == 0) && l.From <= lead && lead <= l.To {
			return l, true
		}
	}
	return RateLine{}, false
}

// Channels lists the channels that have lines of their own.
func (c RateCard) Channels() []int64 {
	var ids []int64
	for _, l := range c {
		if l.ChannelID != 0 && !slices.Contains(ids, l.ChannelID) {
			ids = append(ids, l.ChannelID)
		}
	}
	return ids
}

// check adds problems to p when a lead has no price or two prices.
func (c RateCard) check(p *errs.Problems) {
	if len(c) > maxRateLines {
		p.Wrong("rate_card", "At most %d lines are allowed.", maxRateLines)
		return
	}
	next := map[int64]int64{0: 0} // by channel, the lead with which its next line begins; NoEnd after its last band
	for i, l := range c {
		switch begins := next[l.ChannelID]; {
		case l.PPM < 0 || l.PPM > maxPPM:
			checkBetween(p, errs.Item("rate_card", i, "ppm"), l.PPM, 0, maxPPM)
		case begins == NoEnd:
			p.Wrong(errs.Item("rate_card", i, "lead_from"), "This band follows an open-ended band.")
		case l.From != begins:
			p.Wrong(errs.Item("rate_card", i, "lead_from"), "Bands must follow each other without gaps, starting at 0. Expected %d, not %d.", begins, l.From)
		case l.To < l.From:
			p.Wrong(errs.Item("rate_card", i, "lead_to"), "The band must not end before it begins.")
		case l.To == NoEnd:
			next[l.ChannelID] = NoEnd
		default:
			next[l.ChannelID] = l.To + 1
		}
	}
	if p.Has("rate_card") { // where the last bands begin is not known
		return
	}
	for _, id := range append(c.Channels(), 0) {
		switch {
		case next[id] == NoEnd:
		case id == 0:
			p.Wrong("rate_card", "The last band of the site must be open-ended. Set its lead_to to null.")
		default:
			p.Wrong("rate_card", "The last band of channel %d must be open-ended. Set its lead_to to null.", id)
		}
	}
}
