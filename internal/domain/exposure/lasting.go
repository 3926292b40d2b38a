package exposure

import (
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
)

// lasting names a subtotal of what time alone changes.
type lasting struct {
	channel  int64
	currency money.Currency
	valuedIn money.Currency // in a locked valuation; "" while it waits for a rate
}

// AddHeld adds a delta held on the first day, and how it changes with time alone. All such deltas, and AddChanged
// of what changed in another way, replace Add of all allocations. The recognition must not be linear.
func (m *Movement) AddHeld(d Delta) error {
	if d.Category != Covered || d.Day > m.query.From {
		return nil
	}
	key := lasting{channel: d.ChannelID, currency: d.Currency}
	if m.query.Valuation == Locked {
		key.valuedIn = d.ValuedIn
	}
	sum := at(m.lasting, key)
	terms := protection.Terms{Start: d.Start, End: d.End, LastDay: d.LastDay}
	err := m.fade(&sum.native, terms, d.Amount)
	if err == nil && key.valuedIn != "" {
		err = m.fade(&sum.locked, terms, d.Locked)
	}
	return err
}

// fade adds what time alone makes of N = n.
func (m *Movement) fade(f *Flows, t protection.Terms, n int64) error {
	by := m.query.Recognition
	f.Opening = f.Opening.Plus(t.Level(n, m.query.From, by))
	f.Closing = f.Closing.Plus(t.Level(n, m.query.AsOf, by))
	return t.Fade(n, m.query.From, m.query.AsOf, by, func(c protection.Change) error {
		f.Causes[c.Cause] = f.Causes[c.Cause].Plus(c.After.Minus(c.Before))
		return nil
	})
}

// AddChanged adds an allocation that changed after the first day, replacing what AddHeld has added for it.
func (m *Movement) AddChanged(h protection.History) error {
	if err := m.Add(h); err != nil {
		return err
	}
	d, held, err := bucketOn(h, m.query.From)
	if err != nil || !held {
		return err
	}
	if !h.Priced(m.query.KnownAt) {
		d.ValuedIn, d.Locked = "", 0
	}
	return m.AddHeld(d.Negative())
}

// endHeld adds what time alone has changed to the lines of the movement.
func (m *Movement) endHeld() {
	for key, sum := range m.lasting {
		if sum.native == (Flows{}) { // nothing was held, or something else happened to all of it
			continue
		}
		valued := key.valuedIn != ""
		if m.query.Valuation == Spot {
			valued = m.closing.of(key.currency) != nil
		}
		m.sum(key.channel, key.currency, key.valuedIn, valued, *sum)
	}
	m.lasting = map[lasting]*moved{}
}
